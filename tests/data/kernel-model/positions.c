/* One step for each rule of how positions of files move. After each, the program reads the position
 * of the descriptors that the step is about from /proc/self/fdinfo, so the log says what is right.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };
static char buffer[8192];
static char stack[65536] __attribute__((aligned(16)));
static int a, b, out;

static void show(int n, ...)
{
	va_list fds;
	char name[40];
	char text[100];
	va_start(fds, n);
	while (n--) {
		sprintf(name, "/proc/self/fdinfo/%d", va_arg(fds, int));
		int fd = open(name, O_RDONLY);
		read(fd, text, sizeof text);
		close(fd);
	}
	va_end(fds);
}

static void in_child(void (*what)(void))
{
	pid_t child = fork();
	if (child == 0) {
		what();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void reads(void)
{
	struct iovec two[2] = { { buffer, 100 }, { buffer + 100, 50 } };
	a = open("data", O_RDONLY);
	show(1, a);
	read(a, buffer, 4096);
	show(1, a);
	pread(a, buffer, 100, 500000);
	preadv(a, two, 2, 9);
	show(1, a);
	readv(a, two, 2);
	show(1, a);
	preadv2(a, two, 2, -1, 0);
	show(1, a);
	preadv2(a, two, 2, 7777, 0);
	show(1, a);
	read(a, buffer, 0);
	show(1, a);
	b = open("data", O_RDONLY);
	read(b, buffer, 7);
	show(2, a, b);
	int c = open("/proc/self/fd/3", O_RDONLY), d = open("/dev/fd/3", O_RDONLY);
	read(d, buffer, 3);
	show(3, a, c, d);
	close(c);
	close(d);
	read(1000, buffer, 10);
	read(a, (char *)8, 10);
	show(1, a);
}

static void seeks(void)
{
	lseek(a, 1000, SEEK_SET);
	show(1, a);
	lseek(a, 234, SEEK_CUR);
	show(1, a);
	lseek(a, -100, SEEK_END);
	show(1, a);
	read(a, buffer, 4096);
	show(1, a);
	read(a, buffer, 4096);
	show(1, a);
	lseek(a, 500, SEEK_END);
	read(a, buffer, 10);
	show(1, a);
	lseek(a, -5, SEEK_SET);
	lseek(a, 0, 77);
	show(1, a);
	lseek(a, 10, SEEK_DATA);
	show(1, a);
	lseek(a, 10, SEEK_HOLE);
	show(1, a);
	lseek(a, SIZE + 1, SEEK_DATA);
	show(1, a);
	lseek(a, 0, SEEK_SET);
}

static void child_reads(void)
{
	read(a, buffer, 1111);
}

static void child_closes(void)
{
	close(a);
	a = open("data", O_RDONLY);
	read(a, buffer, 99);
	show(1, a);
}

static int shares(void *unused)
{
	(void)unused;
	close(b);
	b = open("data", O_RDONLY); /* In the table of both. */
	read(b, buffer, 21);
	read(a, buffer, 22);
	return 0;
}

static void copies(void)
{
	int c = dup(a);
	read(c, buffer, 10);
	show(2, a, c);
	dup2(a, 50);
	read(50, buffer, 11);
	dup3(50, 51, O_CLOEXEC);
	read(51, buffer, 12);
	int k = fcntl(51, F_DUPFD, 60), l = fcntl(k, F_DUPFD_CLOEXEC, 60);
	read(k, buffer, 13);
	read(l, buffer, 14);
	show(6, a, c, 50, 51, k, l);
	dup2(b, k);
	dup2(b, b);
	dup3(b, b, 0);
	dup2(1000, b);
	read(k, buffer, 15);
	show(4, a, b, k, l);
	close(c);
	close(50);
	syscall(SYS_close_range, 51, l, CLOSE_RANGE_CLOEXEC);
	read(k, buffer, 16);
	show(3, 51, k, l);
	syscall(SYS_close_range, 51, l, 0);
	in_child(child_reads);
	show(1, a);
	in_child(child_closes);
	show(1, a);
	waitpid(clone(shares, stack + sizeof stack, CLONE_FILES | SIGCHLD, NULL), NULL, 0);
	read(a, buffer, 26);
	read(b, buffer, 27);
	show(2, a, b);
	if (vfork() == 0) {
		read(a, buffer, 23);
		close(b);
		_exit(0);
	}
	read(b, buffer, 24);
	show(2, a, b);
	pid_t child = fork();
	if (child == 0) {
		unshare(CLONE_FILES);
		dup2(b, a);
		read(a, buffer, 25);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	show(2, a, b);
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	c = (int)syscall(SYS_pidfd_getfd, self, a, 0);
	read(c, buffer, 6);
	show(2, a, c);
	close(c);
	close(self);
}

static void sent(void)
{
	int pair[2];
	char room[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec one = { buffer, 1 };
	struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = room };
	m.msg_controllen = sizeof room;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int both[2] = { b, a };
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	*c = (struct cmsghdr){ CMSG_LEN(sizeof both), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(c), both, sizeof both);
	sendmsg(pair[0], &m, 0);
	memset(room, 0, sizeof room);
	recvmsg(pair[1], &m, 0);
	memcpy(both, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof both);
	read(both[0], buffer, 4);
	read(both[1], buffer, 5);
	show(4, a, b, both[0], both[1]);
	close(both[0]);
	close(both[1]);
	close(pair[0]);
	close(pair[1]);
}

static void two_sided(void)
{
	off_t at = 9, to = 100;
	int line[2];
	lseek(a, 2000, SEEK_SET);
	out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0644);
	off_t zero = 0;
	sendfile(out, a, &zero, 1000);
	show(2, a, out);
	sendfile(out, a, NULL, 1000);
	show(2, a, out);
	copy_file_range(a, NULL, out, NULL, 500, 0);
	show(2, a, out);
	copy_file_range(a, &at, out, NULL, 600, 0);
	show(2, a, out);
	copy_file_range(a, NULL, out, &to, 700, 0);
	show(2, a, out);
	copy_file_range(a, &at, out, &to, 800, 0);
	show(2, a, out);
	pipe(line);
	splice(a, NULL, line[1], NULL, 300, 0);
	show(1, a);
	at = 77;
	splice(a, &at, line[1], NULL, 200, 0);
	show(1, a);
	splice(line[0], NULL, out, NULL, 250, 0);
	show(1, out);
	to = 5;
	splice(line[0], NULL, out, &to, 250, 0);
	show(1, out);
	close(line[0]);
	close(line[1]);
}

static void writes(void)
{
	struct iovec two[2] = { { buffer, 20 }, { buffer, 30 } };
	write(out, buffer, 40);
	show(1, out);
	writev(out, two, 2);
	pwritev2(out, two, 2, -1, 0);
	show(1, out);
	pwrite(out, buffer, 60, 3);
	pwritev(out, two, 2, 4);
	show(1, out);
	read(out, buffer, 70);
	show(1, out);
	int end = open("app", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
	write(end, buffer, 100);
	lseek(end, 10, SEEK_SET);
	write(end, buffer, 5);
	show(1, end);
	pwrite(end, buffer, 3, 0);
	show(1, end);
	int other = open("app", O_WRONLY | O_APPEND);
	write(end, buffer, 50);
	write(other, buffer, 7);
	show(2, end, other);
	fcntl(other, F_SETFL, 0);
	lseek(other, 20, SEEK_SET);
	write(other, buffer, 8);
	show(1, other);
	fcntl(other, F_SETFL, O_APPEND);
	write(other, buffer, 9);
	show(1, other);
	ftruncate(other, 30);
	show(1, other);
	write(other, buffer, 10);
	show(2, end, other);
	int memory = memfd_create("memory", 0);
	write(memory, buffer, 77);
	lseek(memory, 7, SEEK_SET);
	read(memory, buffer, 8);
	show(1, memory);
	close(memory);
	close(other);
	close(end);
}

static void names(void)
{
	int fd = open("app", O_RDONLY);
	read(fd, buffer, 4);
	rename("app", "moved");
	read(fd, buffer, 4);
	show(1, fd);
	unlink("moved");
	int anew = open("moved", O_RDWR | O_CREAT, 0644);
	write(anew, buffer, 3);
	read(fd, buffer, 4);
	show(2, fd, anew);
	close(anew);
	close(fd);
	lseek(b, 5000, SEEK_SET);
	truncate("data", 100);
	show(1, b);
	read(b, buffer, 10);
	show(1, b);
	truncate("data", SIZE);
	read(b, buffer, 10);
	show(1, b);
}

static void submitted(void)
{
	aio_context_t context = 0;
	struct iocb one = { .aio_fildes = (unsigned)b,
			    .aio_lio_opcode = IOCB_CMD_PREAD,
			    .aio_buf = (unsigned long)buffer,
			    .aio_nbytes = 512,
			    .aio_offset = 1024 };
	struct iocb *list[1] = { &one };
	struct io_event event;
	syscall(SYS_io_setup, 4, &context);
	syscall(SYS_io_submit, context, 1, list);
	syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
	show(1, b);
	syscall(SYS_io_destroy, context);
}

int main(int argc, char **argv)
{
	char *const again[] = { argv[0], "again", NULL };
	if (argc > 1) {
		/* Behind execve: 3 is open still, what is close-on-exec is not. */
		read(3, buffer, 31);
		show(1, 3);
		a = open("data", O_RDONLY);
		read(a, buffer, 32);
		show(2, 3, a);
		return 0;
	}
	reads();
	seeks();
	copies();
	sent();
	two_sided();
	writes();
	names();
	submitted();
	fcntl(b, F_SETFD, FD_CLOEXEC);
	fcntl(out, F_SETFD, FD_CLOEXEC);
	execv("/nowhere", again);
	read(b, buffer, 30);
	show(2, a, b);
	execv(argv[0], again);
	return 1;
}
