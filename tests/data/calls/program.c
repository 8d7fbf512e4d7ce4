/* The program that `record.py` traces: about a hundred different calls, each as often in every run.
 *
 * Tasks wait for each other by pipes and by waiting for children, never by futexes: how often those
 * are called depends on time. With an argument, the program first writes its pid into that file,
 * and starts itself anew: that is how it gets into a tracefs instance.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

extern char **environ;
static char buffer[8192];
static int line[2];

static void files(void)
{
	struct iovec two[2] = { { buffer, 100 }, { buffer + 100, 50 } };
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	write(fd, buffer, 8192);
	write(fd, buffer, 1);
	pwrite(fd, buffer, 512, 4096);
	writev(fd, two, 2);
	pwritev(fd, two, 2, 64);
	lseek(fd, 0, SEEK_END);
	lseek(fd, -43, SEEK_END);
	lseek(fd, 0, SEEK_SET);
	while (read(fd, buffer, 3000) > 0)
		;
	pread(fd, buffer, 784, 64);
	pread(fd, buffer, 784, 1 << 20);
	readv(fd, two, 2);
	preadv(fd, two, 2, 4096);
	preadv2(fd, two, 2, -1, 0);
	ftruncate(fd, 5000);
	fallocate(fd, 0, 4096, 8192);
	posix_fadvise(fd, 0, 4096, POSIX_FADV_SEQUENTIAL);
	readahead(fd, 0, 4096);
	fsync(fd);
	fdatasync(fd);
	flock(fd, LOCK_EX);
	fchmod(fd, 0600);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
	madvise(map, 4096, MADV_RANDOM);
	mprotect(map, 4096, PROT_NONE);
	munmap(map, 4096);
	int copy = open("copy", O_RDWR | O_CREAT, 0644);
	lseek(fd, 0, SEEK_SET);
	copy_file_range(fd, NULL, copy, NULL, 4000, 0);
	sendfile(copy, fd, NULL, 500);
	fsetxattr(copy, "user.a", "b", 1, 0);
	fgetxattr(copy, "user.a", buffer, 100);
	close(copy);
	truncate("copy", 100);
	struct stat st;
	struct statx stx;
	struct statfs fs;
	fstat(fd, &st);
	stat("data", &st);
	lstat("nothing", &st);
	statx(AT_FDCWD, "data", 0, STATX_SIZE, &stx);
	statfs(".", &fs);
	close(fd);
	close(fd);
}

static void names(void)
{
	access("data", R_OK);
	access("nothing", R_OK);
	open("nothing", O_RDONLY);
	mkdir("dir", 0755);
	link("data", "dir/link");
	symlink("data", "symlink");
	readlink("symlink", buffer, sizeof buffer);
	rename("dir/link", "dir/renamed");
	chmod("data", 0644);
	utimensat(AT_FDCWD, "data", NULL, 0);
	int dir = open("dir", O_RDONLY | O_DIRECTORY);
	syscall(SYS_getdents64, dir, buffer, sizeof buffer);
	syscall(SYS_getdents64, dir, buffer, sizeof buffer);
	faccessat(dir, "renamed", R_OK, 0);
	unlinkat(dir, "renamed", 0);
	fchdir(dir);
	chdir("..");
	close(dir);
	getcwd(buffer, sizeof buffer);
	rmdir("dir");
	unlink("symlink");
	unlink("copy");
}

static void descriptors(void)
{
	int fd = open("data", O_RDONLY);
	int other = dup(fd);
	dup2(fd, 20);
	dup3(fd, 21, O_CLOEXEC);
	int third = fcntl(fd, F_DUPFD_CLOEXEC, 30);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	ioctl(other, FIOCLEX);
	ioctl(other, TCGETS, buffer);
	read(20, buffer, 10);
	close(third);
	syscall(SYS_close_range, 20, 29, 0);
	close(other);
	close(fd);
	int memory = memfd_create("memory", MFD_CLOEXEC);
	write(memory, buffer, 77);
	close(memory);
}

static void waiting(void)
{
	int pair[2];
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	send(pair[0], buffer, 33, 0);
	recv(pair[1], buffer, 100, 0);
	recv(pair[1], buffer, 100, MSG_DONTWAIT);
	shutdown(pair[0], SHUT_WR);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	epoll_ctl(epoll, EPOLL_CTL_ADD, pair[1], &event);
	epoll_wait(epoll, &event, 1, 0);
	struct pollfd poll_fd = { pair[1], POLLIN, 0 };
	poll(&poll_fd, 1, 0);
	struct timeval none = { 0, 0 };
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pair[1], &set);
	select(pair[1] + 1, &set, NULL, NULL, &none);
	int count = eventfd(1, EFD_CLOEXEC);
	read(count, buffer, 8);
	close(count);
	struct itimerspec soon = { { 0, 0 }, { 0, 1000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(timer, 0, &soon, NULL);
	read(timer, buffer, 8);
	close(timer);
	sigset_t signals;
	sigemptyset(&signals);
	close(signalfd(-1, &signals, SFD_CLOEXEC));
	int watch = inotify_init1(IN_CLOEXEC);
	inotify_add_watch(watch, ".", IN_OPEN);
	close(watch);
	struct sockaddr_un nobody = { AF_UNIX, "nobody" };
	int client = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(client, (struct sockaddr *)&nobody, sizeof nobody);
	close(client);
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bind(server, (struct sockaddr *)&nobody, sizeof nobody);
	listen(server, 1);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(client, (struct sockaddr *)&nobody, sizeof nobody);
	close(accept4(server, NULL, NULL, SOCK_CLOEXEC));
	close(client);
	close(server);
	unlink("nobody");
	close(epoll);
	close(pair[0]);
	close(pair[1]);
}

static void ignore(int signal) { (void)signal; }

static void signals(void)
{
	struct sigaction action = { .sa_handler = ignore };
	struct itimerval soon = { { 0, 0 }, { 0, 2000 } };
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	setitimer(ITIMER_REAL, &soon, NULL);
	pause();
	setitimer(ITIMER_REAL, &soon, NULL);
	read(line[0], buffer, 10);
	struct timespec moment = { 0, 1000 };
	clock_nanosleep(CLOCK_REALTIME, 0, &moment, NULL);
}

static void *thread(void *unused)
{
	(void)unused;
	syscall(SYS_gettid);
	int fd = open("data", O_RDONLY);
	read(fd, buffer, 100);
	close(fd);
	write(line[1], "t", 1);
	return NULL;
}

static void tasks(void)
{
	char *const program[] = { "true", NULL };
	int status;
	pid_t child = fork();
	if (child == 0) {
		write(line[1], "child", 5);
		_exit(3);
	}
	read(line[0], buffer, 5);
	waitpid(child, &status, 0);
	if (vfork() == 0) {
		execv("/nowhere/true", program);
		execv("/bin/true", program);
	}
	waitpid(-1, &status, 0);
	posix_spawn(&child, "/bin/true", NULL, NULL, program, environ);
	siginfo_t info;
	waitid(P_PID, (id_t)child, &info, WEXITED);
	int image = open("/bin/true", O_RDONLY | O_CLOEXEC);
	child = fork();
	if (child == 0)
		fexecve(image, program, environ);
	close(image);
	waitpid(child, &status, 0);
	pthread_t id;
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&id, &detached, thread, NULL);
	read(line[0], buffer, 1);
	/* Time for the thread to end on its own. */
	struct timespec moment = { 0, 50000000 };
	clock_nanosleep(CLOCK_REALTIME, 0, &moment, NULL);
	child = fork();
	if (child == 0)
		kill(getpid(), SIGKILL);
	waitpid(child, &status, 0);
}

static void system_(void)
{
	struct utsname name;
	uname(&name);
	getpid();
	getppid();
	getuid();
	getrandom(buffer, 16, 0);
	sched_yield();
	umask(022);
	sysconf(_SC_NPROCESSORS_ONLN);
}

int main(int argc, char **argv)
{
	char *const self[] = { argv[0], NULL };
	if (argc > 1) {
		int fd = open(argv[1], O_WRONLY | O_CLOEXEC);
		int n = snprintf(buffer, sizeof buffer, "%d", getpid());
		write(fd, buffer, (size_t)n);
		execv(argv[0], self);
	}
	pipe2(line, O_CLOEXEC);
	files();
	names();
	descriptors();
	waiting();
	signals();
	tasks();
	system_();
	unlink("data");
	return 0;
}
