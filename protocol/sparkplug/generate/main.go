// Command generate writes payload.pb.go from payload.proto, without a compiler of protobuf on the machine.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	folder = "protocol/sparkplug/payload"
	source = "payload.proto"
	target = "payload.pb.go"
)

func main() {
	code, err := generate(context.Background(), folder)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, target), code, 0o644) //nolint:gosec // source code is for everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate returns the Go code for the file in a folder.
func generate(ctx context.Context, dir string) ([]byte, error) {
	compiler := protocompile.Compiler{
		Resolver: &protocompile.SourceResolver{ImportPaths: []string{dir}}, SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", source, err)
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{source}, Parameter: new("paths=source_relative"),
		ProtoFile: []*descriptorpb.FileDescriptorProto{protoutil.ProtoFromFileDescriptor(files[0])},
	}
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	plugin := exec.CommandContext(ctx, "go", "run", "google.golang.org/protobuf/cmd/protoc-gen-go")
	plugin.Stdin, plugin.Stderr = bytes.NewReader(in), os.Stderr
	out, err := plugin.Output()
	if err != nil {
		return nil, fmt.Errorf("run protoc-gen-go: %w", err)
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return nil, err
	}
	if response.Error != nil || len(response.File) != 1 {
		return nil, errors.New("protoc-gen-go: " + response.GetError())
	}
	return []byte(response.File[0].GetContent()), nil
}
