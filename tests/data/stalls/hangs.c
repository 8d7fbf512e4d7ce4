/* Programs that hang, and the same without the fault: ./hangs NAME. record.py runs and kills them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char c;
static int p[2], q[2];
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void pause_ms(int ms) { usleep(ms * 1000); }

/* Each of two processes waits for the other's first byte. */
static void crossed_pipes(void) {
    pipe(p), pipe(q);
    if (fork() == 0) { close(p[1]), close(q[0]), read(p[0], &c, 1), write(q[1], "x", 1), _exit(0); }
    close(p[0]), close(q[1]), read(q[0], &c, 1), write(p[1], "x", 1), wait(0);
}
static void talking_pipes(void) {
    pipe(p), pipe(q);
    if (fork() == 0) { close(p[1]), close(q[0]), pause_ms(50), write(q[1], "x", 1), read(p[0], &c, 1), _exit(0); }
    close(p[0]), close(q[1]), read(q[0], &c, 1), pause_ms(30), write(p[1], "x", 1), wait(0);
}
/* The reader holds the end that the child wrote: there is never an end of file. */
static void own_pipe(void) {
    pipe(p);
    if (fork() == 0) { write(p[1], "last", 4), _exit(0); }
    wait(0);
    while (read(p[0], &c, 1) > 0) {}
}
/* The child writes more than fits while its parent waits for its end. */
static void full_pipe(void) {
    static char much[1 << 17];
    pipe(p);
    if (fork() == 0) { close(p[0]), write(p[1], much, sizeof much), _exit(0); }
    close(p[1]), wait(0);
}
static void drained_pipe(void) {
    static char much[1 << 17];
    pipe(p);
    if (fork() == 0) { close(p[0]), write(p[1], much, sizeof much), _exit(0); }
    close(p[1]), pause_ms(40);
    while (read(p[0], much, sizeof much) > 0) {}
    wait(0);
}
/* The other end of the socket pair is the reader's own copy. */
static void socket_pair(void) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, p);
    if (fork() == 0) { close(p[0]), write(p[1], "x", 1), _exit(0); }
    while (read(p[0], &c, 1) > 0) {}
}
static void event(void) { uint64_t n; read(eventfd(0, 0), &n, 8); }
/* The only child that would write dies. */
static void lost_child(void) {
    pipe(p);
    if (fork() == 0) { close(p[0]), pause_ms(20), raise(SIGKILL); }
    read(p[0], &c, 1);
}
/* A semaphore in shared memory that the dead child would have posted. */
static void semaphore(void) {
    sem_t *s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(s, 1, 0);
    if (fork() == 0) { pause_ms(20), raise(SIGKILL); }
    wait(0), sem_wait(s);
}
static void posted(void) {
    sem_t *s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(s, 1, 0);
    if (fork() == 0) { pause_ms(40), sem_post(s), _exit(0); }
    sem_wait(s), wait(0);
}
static int file(int n) {
    char name[] = "lock-0";
    name[5] += n;
    return open(name, O_RDWR | O_CREAT, 0600);
}
/* Two processes lock two files in different order. */
static void flock_cycle(void) {
    pipe(p), pipe(q);
    int child = fork() == 0, a = file(child), b = file(!child);
    flock(a, LOCK_EX);
    child ? (write(p[1], "x", 1), read(q[0], &c, 1)) : (write(q[1], "x", 1), read(p[0], &c, 1));
    flock(b, LOCK_EX);
}
static void flock_in_turn(void) {
    pipe(p);
    int child = fork() == 0, a = file(0);
    if (child) { flock(a, LOCK_EX), write(p[1], "x", 1), pause_ms(40), flock(a, LOCK_UN), _exit(0); }
    read(p[0], &c, 1), flock(a, LOCK_EX), wait(0);
}
static void held_lock(void) { flock(file(0), LOCK_EX), flock(file(0), LOCK_EX); }
/* Record locks of descriptions, for which the kernel does not look for circles. */
static void record_locks(void) {
    struct flock low = {F_WRLCK, SEEK_SET, 0, 100}, high = {F_WRLCK, SEEK_SET, 100, 100};
    pipe(p), pipe(q);
    int child = fork() == 0, a = file(0);
    fcntl(a, F_OFD_SETLKW, child ? &low : &high);
    child ? (write(p[1], "x", 1), read(q[0], &c, 1)) : (write(q[1], "x", 1), read(p[0], &c, 1));
    fcntl(a, F_OFD_SETLKW, child ? &high : &low);
}
/* vfork's child waits for its parent, which waits for it. */
static void vfork_child(void) {
    pipe(p);
    if (vfork() == 0) { read(p[0], &c, 1), _exit(0); }
    write(p[1], "x", 1), wait(0);
}
static void *hold(void *ms) { pthread_mutex_lock(&one), pause_ms((intptr_t)ms), pthread_mutex_unlock(&one); return 0; }
/* A fork while another thread holds a lock: the child has the lock, and not the thread. */
static void lock_at_fork(void) {
    pthread_t t;
    pthread_create(&t, 0, hold, (void *)60000), pause_ms(20);
    if (fork() == 0) { pthread_mutex_lock(&one), _exit(0); }
    wait(0);
}
static void contended_lock(void) {
    pthread_t t;
    pthread_create(&t, 0, hold, (void *)60), pause_ms(20);
    pthread_mutex_lock(&one), pthread_join(t, 0);
}
static void *other_order(void *nothing) {
    pthread_mutex_lock(&two), pause_ms(40), pthread_mutex_lock(&one);
    return nothing;
}
/* Two threads lock two mutexes in different order. */
static void two_locks(void) {
    pthread_t t;
    pthread_create(&t, 0, other_order, 0);
    pthread_mutex_lock(&one), pause_ms(40), pthread_mutex_lock(&two);
}
static void *serve(void *nothing) {
    for (;;) pause_ms(100);
    return nothing;
}
/* The same while a third thread lives: it could unlock them, so nobody can prove it. */
static void two_locks_of_three(void) {
    pthread_t t;
    pthread_create(&t, 0, serve, 0), two_locks();
}
/* A parent that polls again and again for what a stuck child would write. */
static void poll_again(void) {
    pipe(p);
    if (fork() == 0) { close(p[0]), pipe(q), read(q[0], &c, 1), write(p[1], "x", 1), _exit(0); }
    close(p[1]);
    struct pollfd set = {p[0], POLLIN, 0};
    while (poll(&set, 1, 150) == 0) {}
}
/* A server whose threads wait for work from a socket. */
static void server(void) {
    pthread_t t;
    pthread_mutex_lock(&one), pthread_create(&t, 0, hold, 0);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr a = {AF_UNIX, "\0tracefast-stalls"};
    bind(s, &a, sizeof a), listen(s, 1), accept(s, 0, 0);
}
/* A handler of signals that wakes its own process through a pipe. */
static void on_signal(int number) { write(p[1], "x", 1), (void)number; }
static void own_handler(void) {
    pipe2(p, O_NONBLOCK), fcntl(p[0], F_SETFL, 0), signal(SIGUSR1, on_signal), read(p[0], &c, 1);
}

static struct sockaddr_in at;
static socklen_t size = sizeof at;
/* A socket that listens on this machine, at a port that the kernel chooses. */
static int listening(void) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(s, (void *)&at, size), listen(s, 4), getsockname(s, (void *)&at, &size);
    return s;
}
static int connected(void) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    connect(s, (void *)&at, size);
    return s;
}
static int accepted(int s) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    return accept(s, (void *)&from, &size);
}
/* Client and server each wait for the other's first byte. */
static void tcp_cycle(void) {
    int s = listening();
    if (fork() == 0) { close(s), s = connected(), getsockname(s, (void *)&at, &size), read(s, &c, 1), _exit(0); }
    read(accepted(s), &c, 1);
}
/* The same, but the log does not show the client's port: nobody can prove whose connection it is. */
static void tcp_unnamed(void) {
    int s = listening();
    if (fork() == 0) { close(s), read(connected(), &c, 1), _exit(0); }
    read(accepted(s), &c, 1);
}
/* A read that waits for at most a minute. */
static void tcp_limit(void) {
    struct timeval minute = {60, 0};
    int s = listening();
    if (fork() == 0) {
        close(s), s = connected(), getsockname(s, (void *)&at, &size);
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute), read(s, &c, 1), _exit(0);
    }
    read(accepted(s), &c, 1);
}
/* The client says that it will send no more, and waits for the answer. */
static void tcp_half_closed(void) {
    int s = listening();
    if (fork() == 0) {
        close(s), s = connected(), getsockname(s, (void *)&at, &size), write(s, "x", 1), pause_ms(40);
        shutdown(s, SHUT_WR), read(s, &c, 1), _exit(0);
    }
    s = accepted(s);
    while (read(s, &c, 1) > 0) {}
    pause_ms(30), write(s, "y", 1), wait(0);
}
static struct sockaddr_un name = {AF_UNIX, "\0tracefast-stalls"};
static int unix_listening(int backlog) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(s, (void *)&name, sizeof name), listen(s, backlog);
    return s;
}
static int unix_connected(void) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(s, (void *)&name, sizeof name);
    return s;
}
/* A process that is connected to itself, and waits for its own answer. */
static void unix_own(void) {
    int s = unix_listening(1), client = unix_connected(), server = accept(s, 0, 0);
    write(client, "x", 1), read(server, &c, 1), read(client, &c, 1);
}
static void unix_cycle(void) {
    int s = unix_listening(1);
    if (fork() == 0) { close(s), read(unix_connected(), &c, 1), _exit(0); }
    read(accept(s, 0, 0), &c, 1);
}
static void unix_talk(void) {
    int s = unix_listening(1);
    if (fork() == 0) { close(s), pause_ms(20), s = unix_connected(), read(s, &c, 1), pause_ms(20), write(s, "y", 1), _exit(0); }
    s = accept(s, 0, 0), pause_ms(40), write(s, "x", 1), read(s, &c, 1), wait(0);
}
/* Nobody accepts: the queue of connections is full. */
static void unix_full(void) {
    int s = unix_listening(0);
    pipe(p);
    if (fork() == 0) { close(s), unix_connected(), unix_connected(), unix_connected(), _exit(0); }
    read(p[0], &c, 1);
}
/* The child waits for an answer, and its parent for the end of the child, instead of accepting. */
static void unix_not_accepted(void) {
    int s = unix_listening(4);
    if (fork() == 0) { close(s), read(unix_connected(), &c, 1), _exit(0); }
    wait(0);
}
static void tcp_not_accepted(void) {
    int s = listening();
    if (fork() == 0) { close(s), read(connected(), &c, 1), _exit(0); }
    wait(0);
}
/* The same, but a second child accepts. */
static void accepted_late(void) {
    int s = unix_listening(4);
    if (fork() == 0) { pause_ms(100), s = accept(s, 0, 0), pause_ms(40), write(s, "x", 1), _exit(0); }
    if (fork() == 0) { close(s), read(unix_connected(), &c, 1), _exit(0); }
    close(s), wait(0), wait(0);
}
/* The server accepts, and waits for a child that has the connection. */
static void accepted_by_child(void) {
    int s = unix_listening(4);
    if (fork() == 0) { close(s), pause_ms(20), read(unix_connected(), &c, 1), _exit(0); }
    int client = accept(s, 0, 0);
    if (fork() == 0) { close(s), pause_ms(200), write(client, "x", 1), _exit(0); }
    close(client), wait(0), wait(0);
}
/* A queue that is full for a while. */
static void unix_drained(void) {
    int s = unix_listening(0);
    if (fork() == 0) { close(s), unix_connected(), unix_connected(), unix_connected(), _exit(0); }
    for (int i = 0; i < 3; i++) pause_ms(120), accept(s, 0, 0);
    wait(0);
}
/* A file goes into a pipe that is full until its reader comes. */
static void file_into_pipe(void) {
    int f = open("/proc/self/exe", O_RDONLY);
    static char much[1 << 17];
    pipe(p);
    if (fork() == 0) {
        close(p[0]);
        while (sendfile(p[1], f, 0, sizeof much) > 0) {}
        _exit(0);
    }
    close(p[1]), pause_ms(40);
    while (read(p[0], much, sizeof much) > 0) {}
    wait(0);
}

static int f, g;
static long futex(int *at, int op, int value, long other, int *second, unsigned mask) {
    return syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, other, second, mask);
}
static void *await(void *mask) {
    futex(&f, FUTEX_WAIT_BITSET, 0, 0, 0, (intptr_t)mask);
    return 0;
}
static pthread_t awaiting(intptr_t mask) {
    pthread_t t;
    pthread_create(&t, 0, await, (void *)mask), pause_ms(20);
    return t;
}
/* A thread that is moved to a second futex, and woken there. */
static void requeued(void) {
    pthread_t t = awaiting(-1);
    futex(&f, FUTEX_CMP_REQUEUE, 0, 1, &g, 0), pause_ms(20);
    futex(&f, FUTEX_WAKE, 1, 0, 0, 0), futex(&g, FUTEX_WAKE, 1, 0, 0, 0), pthread_join(t, 0);
}
/* The same, but nobody wakes it. */
static void requeued_for_ever(void) {
    awaiting(-1);
    futex(&f, FUTEX_CMP_REQUEUE, 0, 1, &g, 0), pause_ms(20), await((void *)-1);
}
/* Two threads on one futex, and one is woken after the other. */
static void bits(void) {
    pthread_t t = awaiting(1), u = awaiting(2);
    futex(&f, FUTEX_WAKE_BITSET, 9, 0, 0, 2), pause_ms(20), futex(&f, FUTEX_WAKE_BITSET, 9, 0, 0, 1);
    pthread_join(t, 0), pthread_join(u, 0);
}
/* One call that wakes on two futexes. */
static void wake_both(void) {
    pthread_t t = awaiting(-1);
    futex(&g, FUTEX_WAKE_OP, 1, 1, &f, FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0)), pthread_join(t, 0);
}
/* A lock whose owner the kernel knows. */
static void inherited_priority(void) {
    pthread_t t;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind), pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&one, &kind), pthread_create(&t, 0, hold, (void *)60), pause_ms(20);
    pthread_mutex_lock(&one), pthread_mutex_unlock(&one), pthread_join(t, 0);
}
/* The first thread has ended, and the last one waits for what it holds. */
static void *lock_one(void *nothing) { pthread_mutex_lock(&one); return nothing; }
static void first_thread_ended(void) {
    pthread_t t;
    pthread_mutex_lock(&one), pthread_create(&t, 0, lock_one, 0), pause_ms(20), pthread_exit(0);
}
/* Two threads wait for the end of one another. */
static pthread_t first;
static void *join_first(void *nothing) { pthread_join(first, 0); return nothing; }
static void joined_crosswise(void) {
    pthread_t t;
    first = pthread_self(), pthread_create(&t, 0, join_first, 0), pthread_join(t, 0);
}
/* A thread, and a child, that computes and will wake the first one. */
static sem_t ready;
static void compute(int seconds) {
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec - from.tv_sec < seconds);
}
static void *compute_and_post(void *nothing) { compute(60), sem_post(&ready); return nothing; }
static void busy_thread(void) {
    pthread_t t;
    sem_init(&ready, 0, 0), pthread_create(&t, 0, compute_and_post, 0), sem_wait(&ready);
}
static void busy_child(void) {
    pipe(p);
    if (fork() == 0) { compute(60), write(p[1], "x", 1), _exit(0); }
    read(p[0], &c, 1);
}
/* A writer that opened the end once more by its name. */
static void reopened(void) {
    char name[] = "/proc/self/fd/x";
    pipe(p), name[14] = '0' + p[1];
    if (fork() == 0) { int again = open(name, O_WRONLY); close(p[0]), close(p[1]), pause_ms(60000), write(again, "x", 1), _exit(0); }
    read(p[0], &c, 1);
}
/* A handler that wakes its process when its child ends, or when that sends a signal. */
static void child_ends(void) {
    pipe(p), signal(SIGCHLD, on_signal);
    if (fork() == 0) { close(p[0]), close(p[1]), pause_ms(60000), _exit(0); }
    read(p[0], &c, 1);
}
static void post(int number) { sem_post(&ready), (void)number; }
static void told_by_signal(void) {
    sem_init(&ready, 0, 0), signal(SIGUSR1, post);
    if (fork() == 0) { pause_ms(60000), kill(getppid(), SIGUSR1), _exit(0); }
    sem_wait(&ready);
}
/* Each waits for the other's first message. */
static void packets(void) {
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, p);
    if (fork() == 0) { close(p[0]), read(p[1], &c, 1), _exit(0); }
    close(p[1]), read(p[0], &c, 1);
}
/* The same through pipes, of which one is watched: strace shows no limit of a call that goes on. */
static void watched_pipe(void) {
    struct epoll_event event = {EPOLLIN};
    pipe(p), pipe(q);
    if (fork() == 0) { close(p[0]), close(q[1]), read(q[0], &c, 1), write(p[1], "x", 1), _exit(0); }
    int set = epoll_create1(0);
    close(p[1]), close(q[0]), epoll_ctl(set, EPOLL_CTL_ADD, p[0], &event), epoll_wait(set, &event, 1, -1);
}
/* One that watches what only it could write, and one that may wait for a second at most. */
static int watching(int ms) {
    struct epoll_event event = {EPOLLIN};
    pipe(p);
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, p[0], &event);
    return epoll_wait(set, &event, 1, ms);
}
static void watched_own(void) { watching(-1); }
static void watched_limit(void) { while (watching(60000) == 0) {} }
/* It wakes up by itself, and then answers. */
static void watched_twice(void) {
    struct epoll_event event = {EPOLLIN, {.u64 = 7}};
    pipe(p), pipe(q);
    if (fork() == 0) { close(p[0]), close(q[1]), read(q[0], &c, 1), write(p[1], "x", 1), _exit(0); }
    int set = epoll_create1(0);
    close(p[1]), close(q[0]), epoll_ctl(set, EPOLL_CTL_ADD, p[0], &event);
    while (epoll_wait(set, &event, 1, 150) == 0) write(q[1], "x", 1);
    wait(0);
}
/* Another thread adds to the set what is ready. */
static void *add_ready(void *set) {
    struct epoll_event event = {EPOLLIN};
    pause_ms(60000), epoll_ctl((intptr_t)set, EPOLL_CTL_ADD, eventfd(1, 0), &event);
    return 0;
}
static void watched_with_thread(void) {
    struct epoll_event event = {EPOLLIN};
    pthread_t t;
    pipe(p);
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, p[0], &event), pthread_create(&t, 0, add_ready, (void *)(intptr_t)set);
    epoll_wait(set, &event, 1, -1);
}
/* Each of two waits for the other's first byte, through FIFOs with names. */
static void two_fifos(int talks) {
    mkfifo("f", 0600), mkfifo("g", 0600);
    if (fork() == 0) {
        int in = open("f", O_RDONLY), out = open("g", O_WRONLY);
        if (talks) pause_ms(40), write(out, "x", 1);
        read(in, &c, 1), write(out, "x", 1), _exit(0);
    }
    pause_ms(30);
    int out = open("f", O_WRONLY), in = open("g", O_RDONLY);
    unlink("f"), unlink("g"), read(in, &c, 1), write(out, "x", 1), wait(0);
}
static void fifos(void) { two_fifos(0); }
static void fifos_talk(void) { two_fifos(1); }
/* A FIFO that nobody opens, and one that its reader holds open for whoever writes. */
static void fifo_alone(void) { mkfifo("f", 0600), open("f", O_RDONLY); }
static void fifo_kept_open(void) {
    mkfifo("f", 0600);
    int in = open("f", O_RDONLY | O_NONBLOCK);
    open("f", O_WRONLY), fcntl(in, F_SETFL, 0), read(in, &c, 1);
}
/* A child that waits until its parent asks it to end. */
static void asked_to_end(void) {
    pid_t child;
    sem_init(&ready, 0, 0), signal(SIGTERM, post);
    if ((child = fork()) == 0) { sem_wait(&ready), _exit(0); }
    pause_ms(300), kill(child, SIGTERM), wait(0);
}
/* A child that shares the descriptors of its parent, and gets those that are made later. */
static char stack[1 << 14];
static int write_late(void *nothing) { pause_ms(60000), write(4, "x", 1), (void)nothing; return 0; }
static void shared_table(void) {
    clone(write_late, stack + sizeof stack, CLONE_FILES | SIGCHLD, 0), pipe(p), read(p[0], &c, 1);
}
/* A program that was started by vfork and inherited the end. */
static void started_writer(void) {
    char *arguments[] = {"sleep", "60", 0}, *none[] = {0};
    pid_t child;
    pipe(p), posix_spawn(&child, "/bin/sleep", 0, 0, arguments, none), read(p[0], &c, 1);
}
/* A descriptor that was sent away. */
static void sent_writer(void) {
    char buffer[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&c, 1};
    struct msghdr m = {0, 0, &data, 1, buffer, sizeof buffer, 0};
    socketpair(AF_UNIX, SOCK_STREAM, 0, q);
    if (fork() == 0) { recvmsg(q[1], &m, 0), pause_ms(60000), write(4, "x", 1), _exit(0); }
    struct cmsghdr *rights = CMSG_FIRSTHDR(&m);
    rights->cmsg_level = SOL_SOCKET, rights->cmsg_type = SCM_RIGHTS, rights->cmsg_len = CMSG_LEN(sizeof(int));
    pipe(p), memcpy(CMSG_DATA(rights), &p[1], sizeof(int)), sendmsg(q[0], &m, 0), read(p[0], &c, 1);
}
/* A writer with a copy of the end. */
static void copied_writer(void) {
    pipe(p);
    if (fork() == 0) { int copy = fcntl(p[1], F_DUPFD, 10); close(p[1]), pause_ms(60000), write(copy, "x", 1), _exit(0); }
    read(p[0], &c, 1);
}

static void step(int set, int by) {
    struct sembuf operation = {0, by, 0};
    semop(set, &operation, 1);
}
/* A semaphore of System V that the child raises. */
static void raised(void) {
    int set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (fork() == 0) { pause_ms(40), step(set, 1), _exit(0); }
    step(set, -1), wait(0), semctl(set, 0, IPC_RMID);
}
/* Each of two processes waits for a semaphore that only the other would raise. */
static void semaphores(void) {
    int one = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600), two = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (fork() == 0) { step(one, -1), step(two, 1), _exit(0); }
    step(two, -1), step(one, 1);
}
static void semaphore_limit(void) {
    struct sembuf operation = {0, -1, 0};
    struct timespec limit = {0, 40000000};
    int set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    semtimedop(set, &operation, 1, &limit), semctl(set, 0, IPC_RMID);
}
static struct { long type; char text[1]; } message = {1, "x"};
static void messages(void) {
    int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    if (fork() == 0) { pause_ms(40), msgsnd(queue, &message, 1, 0), pause_ms(40), msgctl(queue, IPC_RMID, 0), _exit(0); }
    msgrcv(queue, &message, 1, 0, 0), msgrcv(queue, &message, 1, 0, 0), wait(0);
}
/* A queue with a key: anybody may send. */
static void messages_with_key(void) {
    int queue = msgget(0x7ace, IPC_CREAT | 0600);
    if (fork() == 0) { pause_ms(1000), msgctl(queue, IPC_RMID, 0), _exit(0); }
    msgrcv(queue, &message, 1, 2, 0), wait(0);
}
static mqd_t queue(void) {
    struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 1};
    return mq_open("/tracefast-stalls", O_RDWR | O_CREAT, 0600, &size);
}
static void posix_queue(void) {
    mqd_t q = queue();
    mq_unlink("/tracefast-stalls");
    if (fork() == 0) { pause_ms(40), mq_send(q, "x", 1, 0), mq_send(q, "y", 1, 0), _exit(0); }
    mq_receive(q, &c, 1, 0), pause_ms(40), mq_receive(q, &c, 1, 0), wait(0);
}
static void posix_queue_limit(void) {
    struct timespec now;
    mqd_t q = queue();
    mq_unlink("/tracefast-stalls"), clock_gettime(CLOCK_REALTIME, &now), now.tv_sec += 60;
    mq_timedreceive(q, &c, 1, 0, &now);
}

/* Another process opens a file on which there is a lease. */
static void lease(void) {
    signal(SIGIO, SIG_IGN);
    int f = file(0);
    fcntl(f, F_SETLEASE, F_WRLCK);
    if (fork() == 0) { close(f), open("lock-0", O_RDONLY), _exit(0); }
    pause_ms(40), fcntl(f, F_SETLEASE, F_UNLCK), wait(0);
}

#define RUN(name) if (strcmp(argv[1], #name) == 0) name()
int main(int argc, char **argv) {
    (void)argc;
    setpgid(0, 0); /* A signal to the group ends all of it at once: nobody runs on. */
    RUN(crossed_pipes); RUN(talking_pipes); RUN(own_pipe); RUN(full_pipe); RUN(drained_pipe);
    RUN(socket_pair); RUN(event); RUN(lost_child); RUN(semaphore); RUN(posted); RUN(flock_cycle);
    RUN(flock_in_turn); RUN(held_lock); RUN(record_locks); RUN(vfork_child); RUN(lock_at_fork);
    RUN(contended_lock); RUN(two_locks); RUN(two_locks_of_three); RUN(poll_again); RUN(server);
    RUN(own_handler); RUN(tcp_cycle); RUN(tcp_unnamed); RUN(tcp_limit); RUN(tcp_half_closed);
    RUN(unix_own); RUN(unix_cycle); RUN(unix_talk); RUN(unix_full); RUN(file_into_pipe);
    RUN(requeued); RUN(requeued_for_ever); RUN(bits); RUN(wake_both); RUN(inherited_priority);
    RUN(first_thread_ended); RUN(joined_crosswise); RUN(busy_thread); RUN(busy_child);
    RUN(reopened); RUN(child_ends); RUN(told_by_signal); RUN(asked_to_end);
    RUN(shared_table); RUN(started_writer); RUN(sent_writer); RUN(copied_writer);
    RUN(packets); RUN(watched_pipe); RUN(watched_own); RUN(watched_limit); RUN(watched_twice);
    RUN(watched_with_thread); RUN(unix_not_accepted); RUN(tcp_not_accepted); RUN(accepted_late);
    RUN(accepted_by_child); RUN(unix_drained); RUN(fifos); RUN(fifos_talk); RUN(fifo_alone);
    RUN(fifo_kept_open);
    RUN(raised); RUN(semaphores); RUN(semaphore_limit); RUN(messages); RUN(messages_with_key);
    RUN(posix_queue); RUN(posix_queue_limit); RUN(lease);
}
