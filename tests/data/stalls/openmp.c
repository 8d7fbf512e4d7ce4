/* OpenMP after fork: the child waits for threads of the pool that only its parent has. */
#include <sys/wait.h>
#include <unistd.h>
static double work(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 100000; i++) sum += i * 0.5;
    return sum;
}
int main(void) {
    work();
    pid_t child = fork();
    if (child == 0) work(), _exit(0);
    waitpid(child, 0, 0);
}
