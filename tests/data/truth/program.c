/* The program that `record.py` traces: it reads, and writes down what it read.
 *
 * Every 8 bytes of the file say where they stand, so what a read returned tells its offset, whoever
 * else moves the position. Each task keeps its own record and prints it when it ends, as lines of
 * JSON in a file of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS = 4, MOST = 400, LARGEST = 3000 };

struct entry {
	const char *op, *path;
	int fd;
	long offset, requested, returned;
};

static struct record {
	int tid, n;
	unsigned seed;
	struct entry entries[MOST];
	char buffer[LARGEST];
} records[TASKS];

static const char *path = "data.bin";
static int shared, rounds;

/* Where the bytes stand in the file: of the eight ways to cut them, one gives two words in a row. */
static long position(const char *bytes, long n)
{
	uint64_t first, second;
	for (long shift = 0; shift < 8 && shift + 16 <= n; shift++) {
		memcpy(&first, bytes + shift, 8);
		memcpy(&second, bytes + shift + 8, 8);
		if (second == first + 8 && first % 8 == 0)
			return (long)first - shift;
	}
	return -1;
}

static void note(struct record *r, const char *op, int fd, long requested, long returned)
{
	if (returned <= 0)
		return;
	if (r->n == MOST)
		abort();
	long offset = position(r->buffer, returned);
	r->entries[r->n++] = (struct entry){ op, path, fd, offset, requested, returned };
}

static long get(struct record *r, int fd, long size)
{
	long n = read(fd, r->buffer, (size_t)size);
	note(r, "read", fd, size, n);
	return n;
}

static void get_at(struct record *r, int fd, long size, long offset)
{
	note(r, "pread64", fd, size, pread(fd, r->buffer, (size_t)size, offset));
}

static void get_vector(struct record *r, int fd, long size)
{
	struct iovec two[2] = { { r->buffer, 16 }, { r->buffer + 16, (size_t)size - 16 } };
	note(r, "readv", fd, size, readv(fd, two, 2));
}

static void begin(struct record *r)
{
	r->tid = (int)syscall(SYS_gettid);
	r->seed = (unsigned)(r - records) * 7919 + 1;
	r->n = 0;
}

static void end(struct record *r)
{
	static char text[MOST * 200];
	char name[40];
	char *at = text;
	for (int i = 0; i < r->n; i++) {
		struct entry *e = &r->entries[i];
		at += sprintf(at,
			      "{\"tid\": %d, \"op\": \"%s\", \"fd\": %d, \"path\": \"%s\", "
			      "\"offset\": %ld, \"requested\": %ld, \"returned\": %ld}\n",
			      r->tid, e->op, e->fd, e->path, e->offset, e->requested, e->returned);
	}
	sprintf(name, "%d.part", r->tid);
	int out = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	write(out, text, (size_t)(at - text));
	close(out);
}

/* Reads of every kind on a description that others move at the same time. */
static void mix(struct record *r)
{
	begin(r);
	for (int i = 0; i < rounds; i++) {
		long size = 24 + rand_r(&r->seed) % (LARGEST - 24);
		switch (rand_r(&r->seed) % 12) {
		case 0:
			get_at(r, shared, size, rand_r(&r->seed) % 100000);
			break;
		case 1:
			get_vector(r, shared, size);
			break;
		case 2:
			lseek(shared, rand_r(&r->seed) % 50000, SEEK_SET);
			break;
		case 3: {
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			get(r, fd, size);
			int other = dup(shared);
			get(r, other, size);
			close(other);
			get(r, fd, size);
			close(fd);
			break;
		}
		default:
			get(r, shared, size);
		}
	}
}

static void *thread(void *record)
{
	mix(record);
	return NULL;
}

static void threads(void)
{
	pthread_t ids[TASKS - 1];
	shared = open(path, O_RDONLY);
	for (int i = 1; i < TASKS; i++)
		pthread_create(&ids[i - 1], NULL, thread, &records[i]);
	mix(&records[0]);
	for (int i = 1; i < TASKS; i++)
		pthread_join(ids[i - 1], NULL);
	for (int i = 1; i < TASKS; i++)
		end(&records[i]);
}

static void forks(void)
{
	shared = open(path, O_RDONLY);
	for (int i = 1; i < TASKS; i++)
		if (fork() == 0) {
			mix(&records[i]);
			end(&records[i]);
			_exit(0);
		}
	mix(&records[0]);
	while (wait(NULL) > 0)
		;
}

static int received(int from)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec one = { &byte, 1 };
	struct msghdr m = { .msg_iov = &one,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof room };
	int fd;
	recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static void send_descriptor(int to, int fd)
{
	char byte = 'x', room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec one = { &byte, 1 };
	struct msghdr m = { .msg_iov = &one,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof room };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	sendmsg(to, &m, 0);
}

/* One after the other: descriptors that are copied, sent, inherited, opened again. */
static void copies(void)
{
	struct record *r = &records[0];
	int pair[2], fd, other;
	begin(r);
	get(r, 0, 100); /* Inherited, from somewhere in the middle. */
	get(r, 0, 200);
	get_at(r, 0, 100, 8);
	lseek(0, 0, SEEK_CUR);
	get(r, 0, 300);
	get(r, 9, 1000); /* Another one, which nothing proves but its end. */
	while (get(r, 9, LARGEST) > 0)
		;
	fd = open(path, O_RDONLY);
	get(r, fd, 500);
	other = dup(fd);
	get(r, other, 500);
	dup2(fd, 20);
	get(r, 20, 500);
	int third = fcntl(fd, F_DUPFD_CLOEXEC, 30);
	get(r, third, 500);
	dup3(third, 21, O_CLOEXEC);
	close(fd);
	get_vector(r, 21, 500);
	int again = open("/proc/self/fd/21", O_RDONLY);
	get(r, again, 500);
	get(r, 21, 500);
	lseek(21, -1000, SEEK_END);
	get(r, 20, 400);
	lseek(20, 100, SEEK_CUR);
	get(r, third, 400);
	get(r, 21, 400);
	get(r, 21, 400);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	lseek(21, 4000, SEEK_SET);
	send_descriptor(pair[0], 21);
	fd = received(pair[1]);
	get(r, fd, 100);
	get(r, 21, 100);
	pid_t child = fork();
	if (child == 0) {
		struct record *mine = &records[1];
		begin(mine);
		get(mine, 21, 100);
		fd = received(pair[1]);
		get(mine, fd, 100);
		close(21);
		get(mine, 20, 100);
		end(mine);
		_exit(0);
	}
	send_descriptor(pair[0], again);
	waitpid(child, NULL, 0);
	get(r, 21, 100);
	get(r, again, 100);
	path = "copy.bin"; /* Renamed while it is open: the record keeps the name of the open. */
	fd = open(path, O_RDONLY);
	get(r, fd, 100);
	rename("copy.bin", "renamed.bin");
	get(r, fd, 100);
	unlink("renamed.bin");
	get(r, fd, 100);
	path = "inner/small.bin";
	int dir = open("inner", O_RDONLY | O_DIRECTORY);
	other = openat(dir, "small.bin", O_RDONLY);
	get(r, other, 100);
	chdir("inner");
	fd = open("small.bin", O_RDONLY);
	get(r, fd, 100);
	get(r, other, 100);
	chdir("..");
	fd = open("link.bin", O_RDONLY);
	get(r, fd, 100);
}

int main(int argc, char **argv)
{
	(void)argc;
	rounds = atoi(argv[2]);
	if (strcmp(argv[1], "threads") == 0)
		threads();
	else if (strcmp(argv[1], "forks") == 0)
		forks();
	else
		copies();
	end(&records[0]);
	return 0;
}
