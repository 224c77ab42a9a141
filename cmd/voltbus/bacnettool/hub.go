package bacnettool

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/protocol/bacnet/sc"
)

const hubHelp = `Run a BACnet/SC hub: it passes the messages of the nodes on that connect to it, and nothing else. A node is let in
if it shows a certificate that one of the authorities in --ca has issued. It runs until it is interrupted.

  voltbus bacnet hub --listen 10.0.0.2:4443 --certificate hub.pem --key hub.key --ca ca.pem

Nodes that come and go, and connections that are refused, are printed.`

type hubber struct {
	certificates

	listen string
}

func newHub() *cobra.Command {
	var h hubber
	cmd := &cobra.Command{
		Use: "hub", Short: "Run a BACnet/SC hub for a site that has none", Long: hubHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return h.run(cmd) },
	}
	cmd.Flags().StringVar(&h.listen, "listen", "", "address and port, such as 10.0.0.2:4443")
	h.register(cmd)
	return cmd
}

func (h *hubber) run(cmd *cobra.Command) error {
	if h.listen == "" {
		return shell.Usage(errors.New("--listen is missing; write address and port, such as 10.0.0.2:4443"))
	}
	loaded, err := h.load()
	if err != nil {
		return err
	}
	if err := loaded.Valid(time.Now()); err != nil {
		return fault.E("bacnet", fault.Invalid, h.own, err)
	}
	l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", h.listen)
	if err != nil {
		return fault.E("bacnet", fault.Unreachable, h.listen, err)
	}
	var mu sync.Mutex // several connections write
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...) // a hub works on without its output
	}
	say("hub: wss://%v/", l.Addr())
	vmac, uuid := loaded.Identity(l.Addr().String())
	hub := sc.NewHub(sc.HubConfig{
		VMAC: vmac, UUID: uuid, Certificates: loaded,
		Changed: func(at net.Addr, node sc.Connect, joined bool) {
			if joined {
				say("joined: %v from %v", node.VMAC, at)
			} else {
				say("left: %v from %v", node.VMAC, at)
			}
		},
		Refused: func(text string) { say("refused: %s", text) },
	})
	return hub.Run(cmd.Context(), l)
}
