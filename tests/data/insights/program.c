/*
 * Programs that do one thing that a rule of insights finds, and the same without it:
 * program NAME, program NAME_fixed. What they do is in numbers that the tests know.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1 << 20)
static char buffer[MIB] __attribute__((aligned(4096)));

static int opened(const char *name)
{
	return open(name, O_RDONLY);
}

static void all_end(void)
{
	while (wait(NULL) > 0)
		;
}

static void sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&time, NULL);
}

static void work_ms(long ms)
{
	struct timespec start, now;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static void small_reads(int fixed)
{
	int fd = opened("19200");
	for (int i = 0; i < 300 && !fixed; i++)
		read(fd, buffer, 64);
	if (fixed)
		read(fd, buffer, 19200);
}

/* A hundred places, 600 KiB apart, in the order of their remainders of 17. */
static long place(int i, int fixed)
{
	return (fixed ? i : i * 37 % 100) * 614400L;
}

static void random_reads(int fixed)
{
	int fd = opened("64M");
	for (int i = 0; i < 100; i++)
		pread(fd, buffer, 4096, fixed ? i * 4096L : place(i, 0));
}

static void seek_then_read(int fixed)
{
	int fd = opened("64M");
	for (int i = 0; i < 1000; i++) {
		if (fixed) {
			pread(fd, buffer, 512, place(i % 100, 0));
			continue;
		}
		lseek(fd, place(i % 100, 0), SEEK_SET);
		read(fd, buffer, 512);
	}
}

static void re_reads(int fixed)
{
	for (int i = 0; i < (fixed ? 1 : 5); i++) {
		int fd = opened("200K");
		read(fd, buffer, 204800);
		close(fd);
	}
}

static void read_by_many(int fixed)
{
	int fd = opened("1M");
	if (fixed)
		mmap(NULL, MIB, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		for (int part = 0; part < 16 && !fixed; part++)
			pread(fd, buffer, 65536, part * 65536);
		_exit(0);
	}
	all_end();
}

static void end_of_file_probes(int fixed)
{
	char name[32];
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof name, "many/%d", i);
		int fd = opened(name);
		read(fd, buffer, 4096);
		if (!fixed)
			read(fd, buffer, 4096);
		close(fd);
	}
}

/* An image with a long header: read until the scan starts, and again from the start. */
static void header_then_all(int fixed)
{
	int fd = opened("119798");
	for (int i = 0; i < 3; i++)
		read(fd, buffer, 4096);
	if (!fixed)
		lseek(fd, 0, SEEK_SET);
	while (read(fd, buffer, 65536) > 0)
		;
}

/* As PyTorch reads its archives: record, locator, directory, from the end backwards. */
static void tail_first_archive(int fixed)
{
	static const struct { long place, length; } reads[] = {
		{ 0, 4096 }, { 67104768, 4096 }, { 67108842, 22 }, { 67108822, 42 },
		{ 67108766, 98 }, { 67101437, 7329 }, { 67101307, 4096 }, { 4096, 15319 },
	};
	int fd = opened("64M");
	for (int i = 0; i < 8 && !fixed; i++)
		pread(fd, buffer, reads[i].length, reads[i].place);
	for (int i = 0; i < 4 && fixed; i++)
		read(fd, buffer, 65536);
}

static void read_little_of_much(int fixed)
{
	char name[32];
	for (int i = 0; i < (fixed ? 1 : 60); i++) {
		snprintf(name, sizeof name, "large/%d", i);
		int fd = opened(fixed ? "19200" : name);
		lseek(fd, 0, SEEK_END);
		pread(fd, buffer, fixed ? 15360 : 4096, 0);
		close(fd);
	}
}

static void copy_by_hand(int fixed)
{
	int from = opened("2M"), to = open("copy", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	while (!fixed) {
		ssize_t got = read(from, buffer, 65536);
		if (got <= 0)
			break;
		write(to, buffer, got);
	}
	while (fixed && copy_file_range(from, NULL, to, NULL, 2 * MIB, 0) > 0)
		;
}

static void small_writes(int fixed)
{
	int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 300 && !fixed; i++)
		write(fd, buffer, 50);
	if (fixed)
		write(fd, buffer, 15000);
}

static void sync_per_write(int fixed)
{
	int fd = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 20; i++) {
		write(fd, buffer, 4096);
		if (!fixed || i == 19)
			fdatasync(fd);
	}
}

static void unaligned_direct(int fixed)
{
	int fd = open("200K", O_RDONLY | O_DIRECT);
	for (int i = 0; i < 7; i++)
		pread(fd, buffer, 4096, i * 4096 + (fixed ? 0 : 1));
}

static void written_never_read(int fixed)
{
	int fd = open("scratch", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 4; i++)
		write(fd, buffer, 65536);
	close(fd);
	if (fixed) {
		fd = opened("scratch");
		read(fd, buffer, 4 * 65536);
	}
	unlink("scratch");
}

static void open_close_churn(int fixed)
{
	int fd = opened("19200");
	for (int i = 0; i < 500; i++) {
		pread(fd, buffer, 320, i % 60 * 320);
		if (fixed)
			continue;
		close(fd);
		fd = opened("19200");
	}
}

static void failed_opens(int fixed)
{
	char name[32];
	for (int i = 0; i < 100; i++)
		for (int folder = fixed ? 8 : 0; folder < 9; folder++) {
			snprintf(name, sizeof name, "path%d/module%d", folder, i);
			int fd = opened(name);
			if (fd >= 0)
				close(fd);
		}
}

static void repeated_stats(int fixed)
{
	struct stat status;
	for (int i = 0; i < (fixed ? 1 : 800); i++)
		stat("not_yet", &status);
}

static void directory_scans(int fixed)
{
	for (int i = 0; i < (fixed ? 1 : 100); i++) {
		DIR *folder = opendir("many");
		while (readdir(folder))
			;
		closedir(folder);
	}
}

static void metadata_bound(int fixed)
{
	char name[32];
	struct stat status;
	for (int i = 0; i < (fixed ? 1 : 400); i++) {
		snprintf(name, sizeof name, "many/%d", i);
		stat(name, &status);
		close(opened(name));
	}
}

static void busy_polling(int fixed)
{
	int ends[2];
	pipe(ends);
	struct pollfd asked = { ends[0], POLLIN, 0 };
	for (int i = 0; i < (fixed ? 1 : 1500); i++)
		poll(&asked, 1, fixed ? 100 : 0);
}

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static void *taker(void *lock)
{
	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(lock);
		work_ms(3);
		pthread_mutex_unlock(lock);
		work_ms(1);
	}
	return NULL;
}

static void contended_futex(int fixed)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, taker, &locks[fixed ? i : 0]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Four workers take a job from a pipe each, and send a byte back. */
static void one_slow_worker(int fixed)
{
	int jobs[4][2], results[2];
	char byte = 0;
	pipe(results);
	for (int i = 0; i < 4; i++) {
		pipe(jobs[i]);
		if (fork())
			continue;
		read(jobs[i][0], &byte, 1);
		work_ms(i == 2 && !fixed ? 150 : 20);
		write(results[1], &byte, 1);
		_exit(0);
	}
	for (int i = 0; i < 4; i++)
		write(jobs[i][1], &byte, 1);
	for (int i = 0; i < 4; i++)
		read(results[0], &byte, 1);
	all_end();
}

/* Two workers that take 20 ms for each job; their maker takes 5 ms for each result. */
static void starved_trainer(int fixed)
{
	int jobs[2][2], results[2];
	char byte = 0;
	pipe(results);
	for (int i = 0; i < 2; i++) {
		pipe(jobs[i]);
		if (fork())
			continue;
		for (int job = 0; job < 10; job++) {
			read(jobs[i][0], &byte, 1);
			work_ms(fixed ? 1 : 20);
			write(results[1], &byte, 1);
		}
		_exit(0);
	}
	for (int job = 0; job < 10; job++) {
		for (int i = 0; i < 2; i++)
			write(jobs[i][1], &byte, 1);
		for (int i = 0; i < 2; i++) {
			read(results[0], &byte, 1);
			work_ms(5);
		}
	}
	all_end();
}

/* Sixty files; those that are not in memory wait for the disk. */
static void serial_io(int fixed)
{
	char name[32];
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof name, "large/%d", i);
		int fd = opened(name);
		if (!fixed)
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		read(fd, buffer, MIB);
		close(fd);
	}
}

static void no_children(int fixed)
{
	(void)fixed;
	for (int i = 0; i < 3; i++)
		if (!fork()) {
			read(opened("19200"), buffer, 64);
			_exit(0);
		}
	all_end();
}

static void no_names(int fixed)
{
	(void)fixed;
	for (int i = 0, fd = opened("200K"); i < 4; i++)
		read(fd, buffer, 51200);
}

static void tracer_dominates(int fixed)
{
	for (int i = 0; i < (fixed ? 50 : 1000); i++)
		getppid();
	if (fixed)
		sleep_ms(300);
}

/* Execute this program again, or another one, to do nothing. */
static void nothing(int fixed)
{
	(void)fixed;
}

static void execute(const char *path)
{
	execl(path, path, "nothing", NULL);
	_exit(1);
}

/* Eight programs, started by a parent that has written to 256 MiB. */
static void page_table_copy(int fixed)
{
	size_t length = 256 * (size_t)MIB;
	char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, length, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < length; at += 4096)
		memory[at] = 1;
	for (int i = 0; i < 8; i++) {
		if ((fixed ? vfork() : fork()) == 0)
			execute("./program");
		wait(NULL);
	}
}

/* The child has 20 ms of work before its execve, in which the parent waits for the pipe. */
static void error_pipe(int fixed)
{
	char byte;
	for (int i = 0; i < 5; i++) {
		int ends[2];
		pipe2(ends, O_CLOEXEC);
		if (fork() == 0) {
			work_ms(fixed ? 0 : 20);
			execute("./program");
		}
		close(ends[1]);
		read(ends[0], &byte, 1);
		close(ends[0]);
		wait(NULL);
	}
}

static void many_processes(int fixed)
{
	for (int i = 0; i < (fixed ? 1 : 110); i++) {
		if (vfork() == 0)
			execute("./program");
		wait(NULL);
	}
}

static void *ends_with_the_process(void *unused)
{
	pause();
	return unused;
}

static void fork_with_threads(int fixed)
{
	pthread_t thread;
	if (!fixed)
		pthread_create(&thread, NULL, ends_with_the_process, NULL);
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			_exit(0);
	all_end();
}

/* Twenty times: thirty folders do not have the program, the last one does. */
static void path_probes(int fixed)
{
	char path[200] = "";
	for (int i = 0; i < 30; i++)
		snprintf(path + strlen(path), sizeof path - strlen(path), "./%d:", i);
	strcat(path, ".");
	setenv("PATH", path, 1);
	for (int i = 0; i < 20; i++) {
		if (fork() == 0) {
			if (fixed)
				execute("./program");
			execlp("program", "program", "nothing", NULL);
			_exit(1);
		}
		wait(NULL);
	}
}

/* Ten starts of a program that is linked dynamically, with two empty folders to search first. */
static void slow_linking(int fixed)
{
	if (!fixed)
		setenv("LD_LIBRARY_PATH", "/srv/insights/lib0:/srv/insights/lib1", 1);
	for (int i = 0; i < 10; i++) {
		if (vfork() == 0)
			execute("./linked");
		wait(NULL);
	}
}

/* It waits for the end of a pipe whose other end it holds itself. */
static void deadlock(int fixed)
{
	int ends[2];
	char byte;
	pipe(ends);
	if (fork() == 0) {
		write(ends[1], "x", 1);
		_exit(0);
	}
	if (fixed)
		close(ends[1]);
	wait(NULL);
	while (read(ends[0], &byte, 1) > 0)
		;
}

static void *holder(void *unused)
{
	pthread_mutex_lock(&locks[0]);
	sleep_ms(60000);
	pthread_mutex_unlock(&locks[0]);
	return unused;
}

static void lock_at_fork(int fixed)
{
	pthread_t thread;
	if (!fixed)
		pthread_create(&thread, NULL, holder, NULL);
	sleep_ms(20);
	if (fork() == 0) {
		pthread_mutex_lock(&locks[0]);
		_exit(0);
	}
	wait(NULL);
}

/* Two workers write to 600 pages each that they share with their maker, or read them. */
static void copy_on_write_growth(int fixed)
{
	int jobs[2], results[2];
	char byte = 0;
	size_t length = 600 * 4096;
	volatile char *memory =
		mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)memory, length, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < length; at += 4096)
		memory[at] = 1;
	pipe(jobs);
	pipe(results);
	for (int i = 0; i < 2; i++) {
		if (fork())
			continue;
		read(jobs[0], &byte, 1);
		for (size_t at = 0; at < length; at += 4096) {
			if (fixed)
				byte += memory[at];
			else
				memory[at] = 2;
		}
		write(results[1], &byte, 1);
		/* Both live at the same time. */
		sleep_ms(100);
		_exit(0);
	}
	write(jobs[1], "xx", 2);
	for (int i = 0; i < 2; i++)
		read(results[0], &byte, 1);
	all_end();
}

/* More calls than the buffer of the tracer has room for, or few. */
static void lost_events(int fixed)
{
	for (int i = 0; i < (fixed ? 10 : 5000); i++)
		getppid();
}

#define PROGRAM(name) { #name, name }
static const struct { const char *name; void (*run)(int); } programs[] = {
	PROGRAM(small_reads), PROGRAM(random_reads), PROGRAM(seek_then_read), PROGRAM(re_reads),
	PROGRAM(read_by_many), PROGRAM(end_of_file_probes), PROGRAM(header_then_all),
	PROGRAM(tail_first_archive), PROGRAM(read_little_of_much), PROGRAM(copy_by_hand),
	PROGRAM(small_writes), PROGRAM(sync_per_write), PROGRAM(unaligned_direct),
	PROGRAM(written_never_read), PROGRAM(open_close_churn), PROGRAM(failed_opens),
	PROGRAM(repeated_stats), PROGRAM(directory_scans), PROGRAM(metadata_bound),
	PROGRAM(busy_polling), PROGRAM(contended_futex), PROGRAM(one_slow_worker),
	PROGRAM(starved_trainer), PROGRAM(serial_io), PROGRAM(no_children), PROGRAM(no_names),
	PROGRAM(tracer_dominates), PROGRAM(nothing), PROGRAM(page_table_copy), PROGRAM(error_pipe),
	PROGRAM(many_processes), PROGRAM(fork_with_threads), PROGRAM(path_probes),
	PROGRAM(slow_linking), PROGRAM(deadlock), PROGRAM(lock_at_fork),
	PROGRAM(copy_on_write_growth), PROGRAM(lost_events),
};

int main(int count, char **words)
{
	if (count < 2)
		return 2;
	size_t length = strcspn(words[1], ".");
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strlen(programs[i].name) == length && !strncmp(programs[i].name, words[1], length)) {
			programs[i].run(words[1][length] == '.');
			return 0;
		}
	return 2;
}
