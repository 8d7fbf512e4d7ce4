/* Four threads open, read and close files at the same time, so that a number of a descriptor means
 * one file now and another one a moment later. A thread reads only what it opened itself.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int rounds;

static void *work(void *name)
{
	char buffer[512];
	for (int i = 0; i < rounds; i++) {
		int fd = open(name, O_RDONLY);
		read(fd, buffer, sizeof buffer);
		close(fd);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[4];
	rounds = atoi(argv[argc - 1]);
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, work, argv[1 + i % 3]);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
