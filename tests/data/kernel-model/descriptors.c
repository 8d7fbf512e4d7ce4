/* Opens and closes descriptors in the ways that there are. After each step it counts the names in
 * /proc/self/fd and writes the number, so that the log itself has the right answers.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void count(void)
{
	char text[32];
	DIR *folder = opendir("/proc/self/fd");
	/* Without `.`, `..` and the descriptor of the folder. */
	int found = -3;
	while (readdir(folder))
		found++;
	closedir(folder);
	write(2, text, snprintf(text, sizeof text, "descriptors %d\n", found));
}

/* Sends a descriptor to itself: the kernel makes a new one for it. */
static int received(int fd)
{
	int pair[2], got = -1;
	char room[CMSG_SPACE(sizeof got)] = {0}, byte = 'x';
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room,
				 .msg_controllen = sizeof room};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof got);
	memcpy(CMSG_DATA(rights), &fd, sizeof fd);
	sendmsg(pair[0], &message, 0);
	message.msg_controllen = sizeof room;
	recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
	close(pair[0]);
	close(pair[1]);
	return got;
}

static void *in_thread(void *name)
{
	open(name, O_RDONLY);
	count();
	return NULL;
}

static void of_all_kinds(void)
{
	int pair[2];
	struct stat about;
	for (int fd = 0; fd < 3; fd++)
		fstat(fd, &about); /* They are older than the log. */
	count();
	int first = open("first", O_RDONLY);
	int again = dup(first);
	dup2(first, 40);
	dup3(first, 41, O_CLOEXEC);
	dup2(first, again);
	count();
	fcntl(first, F_DUPFD, 50);
	fcntl(first, F_DUPFD_CLOEXEC, 60);
	open("second", O_RDONLY | O_CLOEXEC);
	open("missing", O_RDONLY);
	count();
	pipe(pair);
	pipe2(pair, O_CLOEXEC);
	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	socket(AF_UNIX, SOCK_STREAM, 0);
	count();
	epoll_create1(0);
	eventfd(0, EFD_CLOEXEC);
	timerfd_create(CLOCK_MONOTONIC, 0);
	inotify_init1(IN_CLOEXEC);
	memfd_create("shared", 0);
	syscall(SYS_pidfd_open, getpid(), 0);
	count();
	received(first);
	count();
	close(first);
	close(first);
	ioctl(40, FIOCLEX);
	fcntl(50, F_SETFD, FD_CLOEXEC);
	count();
}

int main(int argc, char **argv)
{
	pthread_t thread;
	if (argc > 1) {
		count(); /* What execve left. */
		close_range(5, 45, 0);
		count();
		return 0;
	}
	of_all_kinds();
	pthread_create(&thread, NULL, in_thread, "third");
	pthread_join(thread, NULL);
	count();
	if (fork() == 0) {
		open("first", O_RDONLY);
		close(0);
		count();
		execl(argv[0], argv[0], "child", NULL);
	}
	wait(NULL);
	count();
	if (vfork() == 0)
		execl(argv[0], argv[0], "child of vfork", NULL);
	wait(NULL);
	close_range(45, 70, CLOSE_RANGE_CLOEXEC);
	count();
	execl(argv[0], argv[0], "again", NULL);
	return 1;
}
