// Package kafkaclient says how a node reaches the brokers of Kafka, to write to them and to read from them.
package kafkaclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"voltbus/fault"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// Options returns the options of a client for the brokers of an address: kafka://host:port,host:port, or kafkas:// for TLS, with
// ?sasl=scram-sha-512 for another mechanism than PLAIN. node is the name of this node.
func Options(a *setting.Access, node string) ([]kgo.Opt, error) {
	scheme, rest, _ := strings.Cut(a.URL, "://")
	hosts, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fault.E("kafka.Open", fault.Invalid, a.URL, err)
	}
	list := []kgo.Opt{kgo.SeedBrokers(strings.Split(strings.TrimSuffix(hosts, "/"), ",")...), kgo.ClientID("voltbus-" + node)}
	if scheme == "kafkas" {
		secure, err := endpoint.Secure(a)
		if err != nil {
			return nil, err
		}
		list = append(list, kgo.DialTLSConfig(secure))
	}
	if a.User != "" {
		how, err := mechanism(a, values.Get("sasl"))
		if err != nil {
			return nil, err
		}
		list = append(list, kgo.SASL(how))
	}
	return list, nil
}

// mechanism returns how the user is authenticated. The password is read for each connection.
func mechanism(a *setting.Access, name string) (sasl.Mechanism, error) {
	switch strings.ToLower(name) {
	case "", "plain":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			password, err := endpoint.Secret(a)
			return plain.Auth{User: a.User, Pass: password}, err
		}), nil
	case "scram-sha-256", "scram-sha-512":
		secret := func(context.Context) (scram.Auth, error) {
			password, err := endpoint.Secret(a)
			return scram.Auth{User: a.User, Pass: password}, err
		}
		if strings.HasSuffix(name, "512") {
			return scram.Sha512(secret), nil
		}
		return scram.Sha256(secret), nil
	}
	return nil, fault.E("kafka.Open", fault.Invalid, name, errors.New("sasl is unknown; write plain, scram-sha-256 or scram-sha-512"))
}

// Plain says in plain words what is wrong. key is the key of the configuration that names the topic.
func Plain(a *setting.Access, key, topic string, err error) error {
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("there is no topic %q; make it, or write another one as %s", topic, key)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed):
		return fmt.Errorf("the user %q may not use the topic %q: %w; give it the right", a.User, topic, err)
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file", a.User)
	}
	return endpoint.Plain(err)
}
