package bacnettool

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/service"
)

const communicationHelp = `Have a device stop to communicate, or start again (DeviceCommunicationControl, ASHRAE 135 clause 16.1): disable silences it
except for this request and a restart, disable-initiation only what it sends unasked, such as changes and alarms. With --minutes it
starts again by itself; without, it stays silent until it is enabled or restarted. A silent device is reached by --address
alone, because it does not answer who it is.`

func newCommunication() *cobra.Command {
	var f flags
	var r service.CommunicationRequest
	states := map[string]service.Communication{
		"enable": service.EnableCommunication, "disable": service.DisableCommunication, "disable-initiation": service.DisableInitiation,
	}
	cmd := &cobra.Command{
		Use: "communication <enable|disable|disable-initiation>", Short: "Have a device stop or start to communicate", Long: communicationHelp, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var known bool
			if r.State, known = states[args[0]]; !known {
				return shell.Usage(fmt.Errorf("%q is no state; write enable, disable or disable-initiation", args[0]))
			}
			if r.Minutes > 0 && r.State == service.EnableCommunication {
				return shell.Usage(errors.New("--minutes is for disable; leave it out"))
			}
			return f.ask(cmd, service.DeviceCommunicationControl, r.Append(nil), args[0])
		},
	}
	f.registerDevice(cmd)
	cmd.Flags().Uint16Var(&r.Minutes, "minutes", 0, "start again after so many minutes; 0: never")
	cmd.Flags().StringVar(&r.Password, "password", "", "password of the device; none if left out")
	return cmd
}

const restartHelp = `Restart a device (ReinitializeDevice, ASHRAE 135 clause 16.4): warm, or with --cold as after a loss of power. What it
controls may stop meanwhile.`

func newRestart() *cobra.Command {
	var f flags
	var cold bool
	r := service.ReinitializeRequest{State: service.Warmstart}
	cmd := &cobra.Command{
		Use: "restart", Short: "Restart a device", Long: restartHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			what := "warm start"
			if cold {
				r.State, what = service.Coldstart, "cold start"
			}
			return f.ask(cmd, service.ReinitializeDevice, r.Append(nil), what)
		},
	}
	f.registerDevice(cmd)
	cmd.Flags().BoolVar(&cold, "cold", false, "as after a loss of power, rather than warm")
	cmd.Flags().StringVar(&r.Password, "password", "", "password of the device; none if left out")
	return cmd
}

// ask sends a request that is never repeated, and prints that the device accepted it.
func (f *flags) ask(cmd *cobra.Command, s service.Confirmed, payload []byte, what string) error {
	f.silent = true
	return f.with(cmd, func(ctx context.Context, d client.Remote) error {
		d.Retries = -1
		if _, err := d.Do(ctx, s, payload); err != nil {
			return err
		}
		cmd.Printf("%s: %s accepted\n", f.subject(), what)
		return nil
	})
}

const fileHelp = `Read a file of a device, such as a log or its configuration (AtomicReadFile, ASHRAE 135 clause 14.1), to the standard output:

  voltbus bacnet file --address 10.0.0.11 file:1 > backup.bin`

func newFile() *cobra.Command {
	var f flags
	var most int
	cmd := &cobra.Command{
		Use: "file <file:instance>", Short: "Read a file of a device", Long: fileHelp, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := parseObject(args[0])
			if err != nil {
				return err
			}
			if most < 1 {
				return shell.Usage(errors.New("--most: write how many bytes, 1 or more"))
			}
			return f.with(cmd, func(ctx context.Context, d client.Remote) error {
				content, err := d.ReadFile(ctx, object, most)
				if errors.Is(err, client.ErrFileTooLong) {
					return shell.Usage(fmt.Errorf("%w; raise --most", err))
				}
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(content)
				return err
			})
		},
	}
	f.registerDevice(cmd)
	cmd.Flags().IntVar(&most, "most", 16<<20, "the longest file to read, in bytes")
	return cmd
}
