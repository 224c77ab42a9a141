package client

import (
	"context"
	"fmt"

	"github.com/gopcua/opcua/ua"
)

// Endpoints returns what a server offers (Part 4, clause 5.4.4). Nothing proves the answer.
func Endpoints(ctx context.Context, opts Options) ([]*ua.EndpointDescription, error) {
	opts.Security = Security{}
	c, err := Dial(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	resp, err := c.Do(ctx, &ua.GetEndpointsRequest{EndpointURL: opts.Endpoint}, opts.Timeout)
	if err != nil {
		return nil, err
	}
	list, is := resp.(*ua.GetEndpointsResponse)
	if !is {
		return nil, fmt.Errorf("the server answers %T to the question for its endpoints", resp)
	}
	return list.Endpoints, nil
}
