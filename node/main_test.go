package node_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"go.uber.org/goleak"

	"voltbus/store/duckdb"
	"voltbus/store/duckdb/statement"
	"voltbus/testing/peers/kafkapeer"
)

type jsonRaw = json.RawMessage

// The test binary is also the node that is killed, see crash_test.go, and the agent, see
// agentkill_test.go.
func TestMain(m *testing.M) {
	kafkapeer.Serve() // in the process of a broker
	if len(os.Args) == 3 && os.Args[1] == agentExec {
		execAgent(os.Args[2])
		return
	}
	if os.Getenv(statement.Env) != "" {
		if err := duckdb.ServeStatement(context.Background()); err != nil {
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv(crashEnv); dir != "" {
		crashChild(dir)
		return
	}
	if place := os.Getenv(agentEnv); place != "" {
		agentChild(place)
		return
	}
	if dir := os.Getenv(soakAgentEnv); dir != "" {
		soakAgentChild(dir)
		return
	}
	if dir := os.Getenv(killedEnv); dir != "" {
		killedChild(dir)
		return
	}
	if dir := os.Getenv(memberEnv); dir != "" {
		memberChild(dir)
		return
	}
	if arguments := os.Getenv(concentratorEnv); arguments != "" {
		concentratorChild(arguments)
		return
	}
	if arguments := os.Getenv(treeEnv); arguments != "" {
		treeChild(arguments)
		return
	}
	if arguments := os.Getenv(meterKillEnv); arguments != "" {
		meterKillChild(arguments)
		return
	}
	if arguments := os.Getenv(replicaEnv); arguments != "" {
		replicaChild(arguments)
		return
	}
	if dir := os.Getenv(mqttEnv); dir != "" {
		mqttChild(dir)
		return
	}
	if arguments := os.Getenv(mqttPublishEnv); arguments != "" {
		mqttPublishChild(arguments)
		return
	}
	if dir := os.Getenv(mqttCommandEnv); dir != "" {
		mqttCommandChild(dir)
		return
	}
	if dir := os.Getenv(filesEnv); dir != "" {
		filesChild(dir)
		return
	}
	if file := os.Getenv(trialEnv); file != "" {
		trialChild(file)
		return
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*ipQueue[...]).recycle"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
