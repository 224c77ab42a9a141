package shell

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/datadir"
	"voltbus/node"
)

// Target is the node that a command addresses.
type Target struct {
	URL       string
	tokenFile string
	CaFile    string
	Config    string
	Data      string
	Node      string // another node, reached through the one above
}

// Register adds the flags to a command.
func (w *Target) Register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&w.URL, "url", os.Getenv("VOLTBUS_URL"), "address of the node, such as http://127.0.0.1:8080 (VOLTBUS_URL); default: the one on this machine")
	fs.StringVar(&w.tokenFile, "token-file", "", "file with the token for --url; the variable VOLTBUS_TOKEN holds the token itself")
	fs.StringVar(&w.CaFile, "ca-file", os.Getenv("VOLTBUS_CA_FILE"), "certificate authority to trust for --url: tls/ca.pem of the node's data directory (VOLTBUS_CA_FILE)")
	fs.StringVarP(&w.Config, "config", "c", "", "configuration of the node on this machine (default voltbus.yaml, else that of the demonstration)")
	fs.StringVar(&w.Data, "data", "", "data directory of the node on this machine; its history is read also while no node runs")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	_ = cmd.MarkFlagDirname("data")
}

// Elsewhere adds the flag that directs a command to another node of the tree.
func (w *Target) Elsewhere(cmd *cobra.Command) *cobra.Command {
	NodeFlag(cmd, &w.Node)
	return cmd
}

var errNowhere = errors.New("there is no voltbus.yaml here, and no demonstration; name the node with --url, --config or --data")

// configFile returns the configuration to use.
func (w *Target) configFile() (string, error) {
	if w.Config != "" {
		return w.Config, nil
	}
	for _, file := range []string{"voltbus.yaml", filepath.Join(DemoDir, "voltbus.yaml")} {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fault.E("voltbus", fault.NotFound, "", errNowhere)
}

// Directory returns the data directory.
func (w *Target) Directory() (string, error) {
	if w.Data != "" {
		return w.Data, nil
	}
	cfg, err := w.load()
	if err != nil {
		return "", err
	}
	return cfg.Node.Data, nil
}

func (w *Target) load() (*config.Config, error) {
	file, err := w.configFile()
	if err != nil {
		return nil, err
	}
	return config.Load(file, all.Kinds())
}

// connect returns a client of the node: the one at --url, the one that runs on this machine, or, if none runs
// on the data directory, one that this process opens on it without devices. Call the returned function at the
// end.
func (w *Target) connect(ctx context.Context) (*client.Client, func() error, error) {
	nothing := func() error { return nil }
	if w.URL != "" {
		token, err := w.token()
		if err != nil {
			return nil, nil, err
		}
		c, err := remote(w.URL, token, w.CaFile)
		return c, nothing, err
	}
	dir, err := w.Directory()
	if err != nil {
		return nil, nil, err
	}
	if !datadir.InUse(dir) {
		return w.openHere(ctx, dir)
	}
	addresses, err := ReadAddresses(dir)
	if err != nil {
		return nil, nil, err
	}
	c, err := local(addresses.HTTP, dir)
	return c, nothing, err
}

func (w *Target) token() (string, error) {
	if token := os.Getenv("VOLTBUS_TOKEN"); token != "" {
		return token, nil
	}
	if w.tokenFile == "" {
		return "", Usage(errors.New("--url needs a token: set VOLTBUS_TOKEN or --token-file"))
	}
	return identity.ReadToken(w.tokenFile)
}

// local returns a client with the local administrator's token, which trusts the node's own
// certificate authority.
func local(url, dir string) (*client.Client, error) {
	if url == "" {
		return nil, fault.E("voltbus", fault.Unreachable, dir, errors.New("the node runs without an API: set listen.http"))
	}
	token, err := identity.ReadToken(filepath.Join(dir, identity.AdminTokenFile))
	if err != nil {
		return nil, err
	}
	return remote(url, token, filepath.Join(dir, identity.TLSFolder, "ca.pem"))
}

// remote returns a client that trusts the certificate authority in a file, or, without a file, the system's.
func remote(url, token, caFile string) (*client.Client, error) {
	if caFile == "" {
		return client.New(url, token, nil)
	}
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fault.E("voltbus", fault.Invalid, caFile, fmt.Errorf("read the certificate authority: %w", err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fault.E("voltbus", fault.Invalid, caFile, errors.New("holds no certificate; give the node's tls/ca.pem"))
	}
	return client.New(url, token, &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool},
	})
}

var errNoData = errors.New("is not the data directory of a node; start the node once with voltbus run, or say with --config or --data which one is meant")

// openHere opens the data directory in this process, without devices, to inspect it.
func (w *Target) openHere(ctx context.Context, dir string) (*client.Client, func() error, error) {
	if _, err := os.Stat(filepath.Join(dir, identity.AdminTokenFile)); err != nil {
		return nil, nil, fault.E("voltbus", fault.NotFound, dir, errNoData)
	}
	cfg := config.Default()
	if w.Data == "" {
		loaded, err := w.load()
		if err != nil {
			return nil, nil, err
		}
		*cfg = *loaded
	}
	cfg.Node.Data = dir
	if cfg.Node.Name == "" {
		cfg.Node.Name = "offline"
	}
	cfg.Listen = config.Listen{HTTP: "127.0.0.1:0"}
	quiet := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	n, err := node.Open(ctx, node.Options{Config: cfg, Log: quiet, Version: Version(), Idle: true})
	if err != nil {
		return nil, nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- n.Run(running) }()
	end := func() error {
		stop()
		return <-done
	}
	n.Settle() //nolint:contextcheck // has a bound of its own
	c, err := local(n.HTTPAddr(), dir)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return c, end, nil
}

// Session is a command's session with a node.
type Session struct {
	*cobra.Command
	*client.Client
}

// With runs a command's work in a session.
func (w *Target) With(cmd *cobra.Command, work func(context.Context, Session) error) error {
	c, end, err := w.connect(cmd.Context())
	if err != nil {
		return err
	}
	err = work(cmd.Context(), Session{cmd, c.At(w.Node)})
	if lacking, is := errors.AsType[*client.Lacking](err); is && lacking.Node != "" {
		err = LetBy(err, lacking.Node, lacking.Capability)
	}
	return errors.Join(err, end())
}

// WithClient is With for commands of other packages.
func (w *Target) WithClient(cmd *cobra.Command, work func(context.Context, *client.Client) error) error {
	return w.With(cmd, func(ctx context.Context, s Session) error { return work(ctx, s.Client) })
}

// LetBy adds to a refusal how to permit it on another node.
func LetBy(err error, node, capability string) error {
	return fmt.Errorf("%w; node %s lets its ancestors with an entry of uplink.allow in its configuration: %q, and its descendants with: voltbus children grant <child> %q",
		err, Plain(node), Plain(capability), Plain(capability))
}

// Ago formats an elapsed time for people.
func Ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dmin ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
