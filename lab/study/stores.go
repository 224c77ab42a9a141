package study

import (
	"context"
	"strings"

	"voltbus/lab/experiment"
	"voltbus/lab/peers"
)

// storePeers let other stores take the same readings by the same schedule.
func storePeers() []experiment.Peer {
	var list []experiment.Peer
	for _, store := range peers.Stores() {
		list = append(list, experiment.Peer{
			Name: store.Name, Find: store.Find,
			Run: func(ctx context.Context, b *experiment.Bench) error {
				return offerRates(ctx, b, store.Name, func(ctx context.Context, t *experiment.Trial) (taker, error) {
					in, err := store.Open(ctx, t.Dir)
					if err != nil {
						return nil, err
					}
					if store.Rows {
						return rowTaker{storeTaker{in}}, nil
					}
					return storeTaker{in}, nil
				})
			},
		})
	}
	return list
}

// promises says what the answers of the stores mean.
func promises() string {
	var said []string
	for _, store := range peers.Stores() {
		said = append(said, store.Name+": "+store.Promise)
	}
	return strings.Join(said, " ")
}

// storeTaker is another project's store that reads line protocol.
type storeTaker struct{ peers.Intake }

// rowTaker is one that reads rows.
type rowTaker struct{ storeTaker }

func (s storeTaker) write(ctx context.Context, b *peers.Batch) error { return s.Write(ctx, b) }

func (s storeTaker) found(ctx context.Context) (rows, distinct uint64, err error) {
	rows, err = s.Count(ctx)
	return rows, rows, err
}

func (s storeTaker) process() int { return s.Process() }

func (s storeTaker) close() error { return s.Close() }
