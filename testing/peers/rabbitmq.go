package peers

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// rabbitProgram is the server's own start script; the one on the path changes the user.
const rabbitProgram = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// RabbitManagement is the plugin of RabbitMQ that has its HTTP API.
const RabbitManagement = "rabbitmq_management"

// StartRabbitMQ starts a RabbitMQ with plugins, and with the user guest, whose password is guest. It is ended when the test ends.
func StartRabbitMQ(t testing.TB, plugins ...string) *Server {
	t.Helper()
	mapper := newServer(t, "rabbitmq-server", "epmd")
	mapper.env = []string{"HOME=" + mapper.Dir, "ERL_EPMD_PORT=" + port(mapper.Addr), "ERL_EPMD_ADDRESS=127.0.0.1"}
	mapper.Start(t)
	t.Cleanup(mapper.Kill)
	s := newServer(t, "rabbitmq-server", rabbitProgram)
	file := filepath.Join(s.Dir, "rabbitmq.conf")
	text := "listeners.tcp.1 = " + s.Addr + "\nlog.console = false\nlog.file.level = error\n"
	if slices.Contains(plugins, RabbitManagement) {
		s.Web = net.JoinHostPort("127.0.0.1", FreePort(t))
		text += "management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = " + port(s.Web) + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "plugins"), []byte("["+strings.Join(plugins, ",")+"].\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(mapper.env,
		"RABBITMQ_NODENAME=test@localhost", "RABBITMQ_CONFIG_FILE="+file, "RABBITMQ_MNESIA_BASE="+s.Dir+"/data", "RABBITMQ_LOG_BASE="+s.Dir+"/logs",
		"RABBITMQ_ENABLED_PLUGINS_FILE="+s.Dir+"/plugins", "RABBITMQ_PID_FILE="+s.Dir+"/pid", "RABBITMQ_DIST_PORT="+FreePort(t), "RABBITMQ_CONF_ENV_FILE="+s.Dir+"/none",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}")
	s.Start(t)
	t.Cleanup(s.Kill)
	return s
}

// RabbitQueue makes a durable queue that is there after Kill, too. RabbitMQ answers before what decided that the queue is made is on disk,
// and forgets the queue with all that is in it if it is killed before; further changes of its definitions write it there.
func RabbitQueue(t testing.TB, s *Server, name string) {
	t.Helper()
	conn, err := amqp.Dial("amqp://guest:guest@" + s.Addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	channel, err := conn.Channel()
	if err == nil {
		_, err = channel.QueueDeclare(name, true, false, false, false, nil)
	}
	for _, key := range []string{"first", "second"} {
		if err == nil {
			err = channel.QueueBind(name, key, "amq.direct", false, nil)
		}
		if err == nil {
			err = channel.QueueUnbind(name, key, "amq.direct", nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
