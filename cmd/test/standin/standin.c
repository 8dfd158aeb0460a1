/* A stand-in for a Pyroscope server, for tests: listens on 127.0.0.1 alone, on a port that the system picks, answers
 * from labelled profiles, and ends by itself. One thread, one poll loop. See manner.h for what addresses mean. */
#include "cmd/cli.h"
#include "cmd/test/standin/respond.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 512
#define DRIP_MS 20

struct connection {
	int fd; /* -1: free */
	uint64_t number;
	struct pp_buf in, out;
	size_t sent;
	int64_t not_before_ms; /* of the next byte out */
	enum si_delivery delivery;
	bool busy, ends;       /* an answer is on its way; the connection ends after it */
};

struct service {
	struct si_server server;
	struct connection connections[CONNECTIONS_MAX];
	int listener;
	uint64_t connections_n, requests_n;
	int64_t began_ms;
	FILE *log;
	const char *save; /* a folder, or NULL */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the log ---- */

static const char log_head[] = "request\tms\tconnection\tbusy\tmethod\ttarget\thost\ttype\tencoding\tauthorization\ttenant\taccept\tstatus\tnote\tquestion\n";

static void log_text(FILE *log, struct pp_str text)
{
	struct pp_buf escaped = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&escaped);
	struct pp_error err = PP_ERROR_INIT;

	if (pp_escape(&sink, text, 0, &err) == 0)
		fprintf(log, "\t%s", escaped.bytes ? escaped.bytes : "");
	pp_buf_release(&escaped);
}

/* busy: how many connections have an answer on its way, this one included. */
static void log_request(struct service *service, const struct connection *c, const struct si_request *request,
                        const struct si_reply *reply, struct pp_str question, const char *note)
{
	unsigned busy = 1;

	if (!service->log)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		busy += service->connections[i].fd >= 0 && service->connections[i].busy && &service->connections[i] != c;
	fprintf(service->log, "%" PRIu64 "\t%" PRIi64 "\t%" PRIu64 "\t%u", service->requests_n, now_ms() - service->began_ms, c->number, busy);
	log_text(service->log, request->method);
	log_text(service->log, request->target);
	log_text(service->log, pp_str_of(request->host));
	log_text(service->log, si_header(request, "Content-Type"));
	log_text(service->log, si_header(request, "Content-Encoding"));
	log_text(service->log, si_header(request, "Authorization"));
	log_text(service->log, si_header(request, "X-Scope-OrgID"));
	log_text(service->log, si_header(request, "Accept"));
	fprintf(service->log, "\t%d", reply->status);
	log_text(service->log, pp_str_of(request->is_proxied ? "proxied" : note));
	log_text(service->log, question);
	fprintf(service->log, "\n");
	fflush(service->log);
}

/* Keeps the body of a request as a file named after its number, to be sent again by others. */
static void save_request(const struct service *service, const struct si_request *request)
{
	char path[4096];

	if (!service->save)
		return;
	snprintf(path, sizeof(path), "%s/%" PRIu64 ".body", service->save, service->requests_n);
	FILE *file = fopen(path, "w");
	if (!file || fwrite(request->body.ptr, 1, request->body.len, file) != request->body.len)
		cli_error("cannot write '%s': %s", path, strerror(errno));
	if (file)
		fclose(file);
}

/* ---- connections ---- */

static void hang_up(struct connection *c, bool reset)
{
	struct linger now = {1, 0};

	if (reset)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(c->fd);
	pp_buf_release(&c->in);
	pp_buf_release(&c->out);
	*c = (struct connection){.fd = -1};
}

static void take_connection(struct service *service)
{
	int fd = accept(service->listener, NULL, NULL);

	for (size_t i = 0; fd >= 0 && i < CONNECTIONS_MAX; i++) {
		struct connection *c = &service->connections[i];
		if (c->fd >= 0)
			continue;
		*c = (struct connection){.fd = fd, .number = ++service->connections_n};
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void answer_request(struct service *service, struct connection *c, const struct si_request *request)
{
	struct si_reply reply = {.status = 0};
	struct pp_buf question = PP_BUF_INIT;
	char note[64];

	service->requests_n++;
	c->busy = true;
	save_request(service, request);
	si_respond(&service->server, request, &reply, &question, note);
	log_request(service, c, request, &reply, (struct pp_str){question.bytes ? question.bytes : "", question.n}, note);
	c->sent = c->out.n = 0;
	c->delivery = reply.delivery;
	c->not_before_ms = reply.delay_ms ? now_ms() + reply.delay_ms : 0;
	c->ends = reply.delivery == SI_CUT || reply.delivery == SI_SHORT || reply.delivery == SI_CLOSE || reply.delivery == SI_RESET ||
	          pp_str_eq(si_header(request, "Connection"), PP_LIT("close"));
	if (!si_reply_write(&reply, &c->out))
		c->ends = true;
	pp_buf_release(&reply.body);
	pp_buf_release(&question);
}

/* Answers the next request that has wholly arrived. */
static void look_at_input(struct service *service, struct connection *c)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct si_request request;
	size_t used = 0;

	if (c->busy || c->in.n == 0)
		return;
	pp_arena_clear(service->server.arena);
	switch (si_request_parse(&request, c->in.bytes, c->in.n, service->server.arena)) {
	case SI_BROKEN:
		hang_up(c, false);
		return;
	case SI_WANTS_CONTINUE:
		if (write(c->fd, go_on, sizeof(go_on) - 1) < 0)
			hang_up(c, false);
		return;
	case SI_COMPLETE:
		answer_request(service, c, &request);
		used = request.used;
		memmove(c->in.bytes, c->in.bytes + used, c->in.n - used);
		c->in.n -= used;
		return;
	default:
		return;
	}
}

static void receive(struct service *service, struct connection *c)
{
	struct pp_error err = PP_ERROR_INIT;
	char piece[65536];
	ssize_t n = read(c->fd, piece, sizeof(piece));

	if (n > 0 && pp_buf_append(&c->in, piece, (size_t)n, &err) == 0)
		look_at_input(service, c);
	else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		hang_up(c, false);
}

/* A piece of a body that never ends. */
static bool refill(struct connection *c)
{
	struct pp_error err = PP_ERROR_INIT;
	char zeros[16384] = {0};

	c->sent = c->out.n = 0;
	return pp_buf_append(&c->out, "4000\r\n", 6, &err) == 0 && pp_buf_append(&c->out, zeros, sizeof(zeros), &err) == 0 &&
	       pp_buf_append(&c->out, "\r\n", 2, &err) == 0;
}

static void send_some(struct service *service, struct connection *c)
{
	size_t left = c->out.n - c->sent;

	if (c->delivery == SI_DRIP) {
		left = left > 1 ? 1 : left;
		c->not_before_ms = now_ms() + DRIP_MS;
	}
	ssize_t n = left ? send(c->fd, c->out.bytes + c->sent, left, MSG_NOSIGNAL) : 0;
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		hang_up(c, false);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent < c->out.n || (c->delivery == SI_ENDLESS && refill(c)))
		return;
	if (c->ends) {
		hang_up(c, c->delivery == SI_RESET);
		return;
	}
	c->busy = false;
	look_at_input(service, c);
}

/* ---- the loop ---- */

/* How long poll may sleep: to the next byte that is held back, a second at most. */
static int patience(const struct service *service)
{
	int64_t now = now_ms(), least = 1000;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct connection *c = &service->connections[i];
		if (c->fd >= 0 && c->busy && c->not_before_ms - now < least)
			least = c->not_before_ms - now;
	}
	return least < 0 ? 0 : (int)least;
}

static void turn(struct service *service)
{
	struct pollfd polls[CONNECTIONS_MAX + 1] = {{.fd = service->listener, .events = POLLIN}};
	int64_t now = now_ms();

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct connection *c = &service->connections[i];
		bool may_send = c->busy && c->not_before_ms <= now;
		polls[i + 1] = (struct pollfd){.fd = c->fd, .events = (short)(may_send ? POLLIN | POLLOUT : POLLIN)};
	}
	if (poll(polls, CONNECTIONS_MAX + 1, patience(service)) <= 0)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *c = &service->connections[i];
		if (c->fd >= 0 && c->fd == polls[i + 1].fd && polls[i + 1].revents & POLLOUT)
			send_some(service, c);
		if (c->fd >= 0 && c->fd == polls[i + 1].fd && polls[i + 1].revents & (POLLIN | POLLHUP | POLLERR))
			receive(service, c);
	}
	if (polls[0].revents & POLLIN)
		take_connection(service);
}

static int listen_here(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, 256) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &n) != 0) {
		cli_error("cannot listen: %s", strerror(errno));
		return -1;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

static bool open_service(struct service *service, const char *store, const char *replay, const char *log, uint16_t *port)
{
	service->server.arena = pp_arena_new(UINT64_C(1) << 30);
	service->began_ms = now_ms();
	service->listener = -1;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		service->connections[i].fd = -1;
	if (!service->server.arena || !si_store_read(&service->server.store, store) ||
	    (replay && !si_recordings_read(&service->server.recordings, replay)))
		return false;
	if (log && (!(service->log = fopen(log, "w")) || fputs(log_head, service->log) < 0 || fflush(service->log) != 0)) {
		cli_error("cannot write '%s': %s", log, strerror(errno));
		return false;
	}
	service->listener = listen_here(port);
	return service->listener >= 0;
}

static void close_service(struct service *service)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (service->connections[i].fd >= 0)
			hang_up(&service->connections[i], false);
	if (service->listener >= 0)
		close(service->listener);
	if (service->log)
		fclose(service->log);
	si_store_release(&service->server.store);
	si_recordings_release(&service->server.recordings);
	si_strikes_release(&service->server.strikes);
	pp_arena_free(service->server.arena);
}

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

int main(int argc, char **argv)
{
	static struct service service;
	const char *replay = NULL, *log = NULL;
	uint64_t seconds = 300;
	const struct cli_option options[] = {
		{"replay", 0, CLI_STRING, &replay, "FOLDER", "recorded exchanges, for addresses that begin with /replay/SERVER", 0, 0, NULL},
		{"log", 0, CLI_STRING, &log, "FILE", "a line for each request (TSV)", 0, 0, NULL},
		{"save", 0, CLI_STRING, &service.save, "FOLDER", "keep the bodies of requests: NUMBER.body", 0, 0, NULL},
		{"seconds", 0, CLI_COUNT, &seconds, "N", "end after N seconds (300), or when the parent process is gone", 1, 86400, NULL}};
	const struct cli_command command = {"standin", "STORE.tsv", "answer as a Pyroscope server would, for tests", options, PP_COUNT(options)};
	struct cli_list operands;
	enum cli_status status;
	pid_t parent = getppid();
	uint16_t port;

	if (!cli_parse(&command, argc, argv, &operands, &status))
		return status;
	if (operands.n != 1) {
		cli_list_release(&operands);
		return cli_usage("name one table of profiles");
	}
	signal(SIGTERM, end);
	signal(SIGINT, end);
	status = CLI_SYSTEM;
	if (open_service(&service, operands.items[0], replay, log, &port)) {
		int64_t last = now_ms() + (int64_t)seconds * 1000;
		printf("http://127.0.0.1:%u\n", port);
		fflush(stdout);
		while (!is_over && now_ms() < last && getppid() == parent)
			turn(&service);
		status = CLI_OK;
	}
	close_service(&service);
	cli_list_release(&operands);
	return status;
}
