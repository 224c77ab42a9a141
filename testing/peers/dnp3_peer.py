"""A DNP3 master or outstation made of opendnp3, for the interop tests.

It prints "ready PORT" for a control connection on loopback, over which a test sends
one command a line and reads what happens, one event a line:

    outstation PORT            serve outstation 10 to master 1; answers "serving"
    another ADDRESS            serve one more outstation on the same line
    master PORT                be master 1 of outstation 10 on that port; answers "dialing"
    update KIND INDEX VALUE    change a point of the outstation, as an event
    event KIND INDEX VALUE FLAGS    the same with flags
    set KIND INDEX VALUE FLAGS change a point without an event; output status and double-bit
                               inputs are always online
    sync                       answers "synced" when all commands before it are done
    restarted                  set the restart indication, as after a power cut
    needtime on|off            set or clear the need-time indication
    scan                       read classes 0 to 3
    operate INDEX COUNT        select and operate a latch, answers "result ..."
    direct INDEX VALUE         direct operate an analog output
    restart                    answers "result ..."
    settime INDEX MS INTERVAL  change a repeating time of the outstation, in minutes
    writetime INDEX MS INTERVAL    write one to the outstation
    deadband INDEX VALUE       write a dead-band, answers "result SUMMARY"
    readall GROUP VARIATION    read all objects of a variation
    readfile NAME              answers "file RESULT STATUS SIZE CRC32", as the next ones
    writefile NAME SIZE        write a file of that size whose bytes count up
    fileinfo NAME
    deletefile NAME
    readdir NAME               answers "directory RESULT NAMES"

    open                            a channel is connected
    value KIND INDEX VALUE SOURCE   a point arrived; SOURCE is "event" or "static"
    time INDEX MS INTERVAL UNITS    a repeating time arrived
    attribute SET VARIATION TEXT    a device attribute arrived
    fragment unsolicited|response   came before its points
    command KIND INDEX VALUE        a command arrived

The outstation serves the file "log.bin" of 3000 bytes that count up.

It ends when its standard input does.
"""

import contextlib
import os
import socket
import sys
import threading
import zlib

import opendnp3 as dnp3


class Control:
    """The connection over which a test commands the peer."""

    def __init__(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        print(f"ready {listener.getsockname()[1]}", flush=True)
        self.connection, _ = listener.accept()
        listener.close()
        self.lock = threading.Lock()

    def send(self, line: str) -> None:
        with self.lock, contextlib.suppress(OSError):
            self.connection.sendall(f"{line}\n".encode())

    def lines(self):
        with self.connection.makefile() as lines:
            for line in lines:
                yield line.split()


class Listener(dnp3.IChannelListener):
    """Says when a channel is connected."""

    def __init__(self, control: Control) -> None:
        super().__init__()
        self.control = control

    def OnStateChange(self, state) -> None:
        if state == dnp3.ChannelState.OPEN:
            self.control.send("open")


KINDS = {
    "Binary": "binary",
    "DoubleBitBinary": "double",
    "Counter": "counter",
    "FrozenCounter": "frozen",
    "Analog": "analog",
    "BinaryOutputStatus": "binaryoutput",
    "AnalogOutputStatus": "analogoutput",
}


class Values(dnp3.ISOEHandler):
    """Passes on what arrives at the master."""

    def __init__(self, control: Control) -> None:
        super().__init__()
        self.control = control

    def BeginFragment(self, info) -> None:
        self.control.send("fragment unsolicited" if info.unsolicited else "fragment response")

    def EndFragment(self, info) -> None:
        self.control.send("end")

    def Process(self, info, values) -> None:
        source = "event" if info.isEventVariation else "static"
        for item in values:
            if isinstance(item.value, dnp3.TimeAndInterval):
                time = item.value
                moment = getattr(time.time, "value", time.time)
                self.control.send(f"time {item.index} {moment} {time.interval} {time.units}")
                continue
            kind = KINDS.get(type(item.value).__name__)
            if kind:
                value = item.value.value
                number = float(int(value)) if kind == "double" else float(value)
                self.control.send(f"value {kind} {item.index} {number:g} {source}")


    def OnDeviceAttribute(self, *arguments) -> None:
        header, number, variation, value = arguments
        self.control.send(f"attribute {number} {variation} {value.stringValue}")


class Commands(dnp3.ICommandHandler):
    """Accepts commands below index 4 at the outstation."""

    def __init__(self, control: Control) -> None:
        super().__init__()
        self.control = control

    def Begin(self) -> None:
        pass

    def End(self) -> None:
        pass

    def Select(self, command, index):
        return dnp3.CommandStatus.SUCCESS if index < 4 else dnp3.CommandStatus.BLOCKED_OTHER_MASTER

    def Operate(self, command, index, handler, *_):
        status = self.Select(command, index)
        if status == dnp3.CommandStatus.SUCCESS:
            if isinstance(command, dnp3.ControlRelayOutputBlock):
                self.control.send(f"command binary {index} {command.count}")
                on = command.opType in (dnp3.OperationType.LATCH_ON, dnp3.OperationType.PULSE_ON)
                if command.tcc != dnp3.TripCloseCode.NUL:
                    on = command.tcc == dnp3.TripCloseCode.CLOSE
                handler.Update(dnp3.BinaryOutputStatus(on), index)
            else:
                self.control.send(f"command analog {index} {command.value:g}")
                handler.Update(dnp3.AnalogOutputStatus(command.value), index)
        return status


class Files(dnp3.IFileHandler):
    """Serves files from memory to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.files = {"log.bin": counting(3000)}
        self.open: dict[int, tuple[bytes, int]] = {}

    def OpenFile(self, name, _key, _permissions, mode, block, _request):
        result = dnp3.FileOpenResult()
        content = self.files.get(name)
        if content is None:
            result.status = dnp3.FileStatus.FILE_NOT_FOUND
        elif mode != dnp3.FileMode.READ:
            result.status = dnp3.FileStatus.PERMISSION_DENIED
        else:
            handle = len(self.open) + 1
            self.open[handle] = content, min(block, 500)
            result.status, result.fileHandle = dnp3.FileStatus.SUCCESS, handle
            result.fileSize, result.maxBlockSize = len(content), min(block, 500)
        return result

    def ReadBlock(self, handle, number):
        result = dnp3.FileBlockResult()
        content, size = self.open[handle]
        at = number * size
        result.status = dnp3.FileStatus.SUCCESS
        result.data = list(content[at : at + size])
        result.lastBlock = at + size >= len(content)
        return result

    def CloseFile(self, handle, _request):
        self.open.pop(handle, None)
        return dnp3.FileStatus.SUCCESS

    def AbortFile(self, handle) -> None:
        self.open.pop(handle, None)

    def DeleteFile(self, name):
        found = self.files.pop(name, None) is not None
        return dnp3.FileStatus.SUCCESS if found else dnp3.FileStatus.FILE_NOT_FOUND

    def GetFileInfo(self, name):
        result = dnp3.FileCommandResult()
        content = self.files.get(name)
        result.status = dnp3.FileStatus.FILE_NOT_FOUND if content is None else dnp3.FileStatus.SUCCESS
        if content is not None:
            result.info.fileName, result.info.size = name, len(content)
            result.info.type = dnp3.FileType.SIMPLE_FILE
        return result

    def AuthenticateFile(self, _user, _password):
        result = dnp3.OutstationFileAuthResult()
        result.status, result.authKey = dnp3.FileStatus.SUCCESS, 1
        return result


def counting(size: int) -> bytes:
    """Bytes that count up, by a prime so that blocks differ."""
    return bytes(i % 251 for i in range(size))


class Application(dnp3.IOutstationApplication):
    """The outstation's own affairs: its clock."""

    def __init__(self, control: Control) -> None:
        super().__init__()
        self.control = control
        self.wants_time = False

    def GetApplicationIIN(self):
        indications = dnp3.ApplicationIIN()
        indications.needTime = self.wants_time
        return indications

    def SupportsWriteAbsoluteTime(self) -> bool:
        return True

    def WriteAbsoluteTime(self, time) -> bool:
        self.wants_time = False
        self.control.send(f"time {time.msSinceEpoch if hasattr(time, 'msSinceEpoch') else time.value}")
        return True


MAKERS = {
    "binary": lambda value, *rest: dnp3.Binary(value != 0, *rest),
    "double": lambda value, *_: dnp3.DoubleBitBinary(dnp3.DoubleBit(int(value))),
    "counter": lambda value, *rest: dnp3.Counter(int(value), *rest),
    "analog": dnp3.Analog,
    "binaryoutput": lambda value, *_: dnp3.BinaryOutputStatus(value != 0),
    "analogoutput": lambda value, *_: dnp3.AnalogOutputStatus(value),
}


class Peer:
    """One manager with a master or an outstation."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.manager = dnp3.DNP3Manager(1)
        self.listener = Listener(self.control)
        self.values = Values(control)
        self.keep: list[object] = []

    def outstation(self, port: str) -> None:
        channel = self.manager.AddTCPServer(
            "server",
            dnp3.LogLevels(),
            dnp3.ServerAcceptMode.CloseExisting,
            dnp3.IPEndpoint("127.0.0.1", int(port)),
            self.listener,
        )
        self.keep += [channel]
        self.line = channel
        self.device = self.station(10)
        self.control.send("serving")

    def station(self, address: int):
        config = dnp3.OutstationStackConfig(dnp3.DatabaseConfig(4))
        config.outstation.eventBufferConfig = dnp3.EventBufferConfig.AllTypes(100)
        config.outstation.params.allowUnsolicited = True
        # The library misses a confirmation or request that arrives while it still sends.
        config.outstation.params.unsolConfirmTimeout = dnp3.TimeDuration.Milliseconds(300)
        config.link.LocalAddr, config.link.RemoteAddr = address, 1
        commands, application = Commands(self.control), Application(self.control)
        files = Files()
        station = self.line.AddOutstation(f"outstation {address}", commands, application, config, files)
        self.keep += [commands, application, files, config, station]
        self.application = application
        station.Enable()
        return station

    def another(self, address: str) -> None:
        self.station(int(address))
        self.control.send("serving")

    def sync(self) -> None:
        self.control.send("synced")

    def restarted(self) -> None:
        self.device.SetRestartIIN()

    def needtime(self, state: str) -> None:
        self.application.wants_time = state == "on"

    def master(self, port: str) -> None:
        channel = self.manager.AddTCPClient(
            "client",
            dnp3.LogLevels(),
            dnp3.ChannelRetry.Default(),
            [dnp3.IPEndpoint("127.0.0.1", int(port))],
            "127.0.0.1",
            self.listener,
        )
        config = dnp3.MasterStackConfig()
        config.link.LocalAddr, config.link.RemoteAddr = 1, 10
        application = dnp3.IMasterApplication()
        self.association = channel.AddMaster("master", self.values, application, config)
        self.keep += [channel, application, config]
        self.association.Enable()
        self.control.send("dialing")

    def update(self, kind: str, index: str, value: str) -> None:
        makers = {
            "binary": lambda: dnp3.Binary(value != "0"),
            "counter": lambda: dnp3.Counter(int(value)),
            "analog": lambda: dnp3.Analog(float(value)),
        }
        builder = dnp3.UpdateBuilder()
        builder.Update(makers[kind](), int(index), dnp3.EventMode.Force)
        self.device.Apply(builder.Build())

    def set(self, kind: str, index: str, value: str, flags: str) -> None:
        self.apply(MAKERS[kind](float(value), dnp3.Flags(int(flags, 0))), index, dnp3.EventMode.Suppress)

    def event(self, kind: str, index: str, value: str, flags: str) -> None:
        self.apply(MAKERS[kind](float(value), dnp3.Flags(int(flags, 0))), index, dnp3.EventMode.Force)

    def apply(self, measurement, index: str, mode) -> None:
        builder = dnp3.UpdateBuilder()
        builder.Update(measurement, int(index), mode)
        self.device.Apply(builder.Build())

    def scan(self) -> None:
        self.association.ScanClasses(dnp3.ClassField.AllClasses(), self.values)

    def operate(self, index: str, count: str) -> None:
        block = dnp3.ControlRelayOutputBlock(dnp3.OperationType.LATCH_ON, count=int(count))
        self.association.SelectAndOperate(block, int(index), self.result)

    def direct(self, index: str, value: str) -> None:
        self.association.DirectOperate(dnp3.AnalogOutputDouble64(float(value)), int(index), self.result)

    def result(self, outcome) -> None:
        statuses = [point.status.name for point in outcome.to_list()]
        self.control.send(f"result {outcome.summary.name} {' '.join(statuses)}")


    def settime(self, index: str, ms: str, interval: str) -> None:
        builder = dnp3.UpdateBuilder()
        builder.Update(repeating(ms, interval), int(index))
        self.device.Apply(builder.Build())

    def writetime(self, index: str, ms: str, interval: str) -> None:
        self.association.Write(repeating(ms, interval), int(index))

    def deadband(self, index: str, value: str) -> None:
        widths = [dnp3.IndexedAnalogInputDeadband(dnp3.AnalogInputDeadband(float(value)), int(index))]
        self.association.WriteDeadBands(widths, lambda outcome: self.control.send(f"result {outcome}"))

    def readall(self, group: str, variation: str) -> None:
        self.association.ScanAllObjects(dnp3.GroupVariationID(int(group), int(variation)), self.values)

    def readfile(self, name: str) -> None:
        self.association.ReadFile(name, lambda result: self.filed(result, bytes(result.data)))

    def writefile(self, name: str, size: str) -> None:
        permissions = dnp3.FilePermissions()
        self.association.WriteFile(name, counting(int(size)), permissions, self.filed)

    def fileinfo(self, name: str) -> None:
        self.association.GetFileInfo(name, lambda result: self.filed(result, bytes(result.info.size)))

    def deletefile(self, name: str) -> None:
        self.association.DeleteFile(name, self.filed)

    def readdir(self, name: str) -> None:
        self.association.ReadDirectory(name, self.listed)

    def listed(self, result) -> None:
        names = " ".join(sorted(entry.fileName for entry in result.entries))
        self.control.send(f"directory {result.summary.name} {names}")

    def filed(self, result, content: bytes = b"") -> None:
        self.control.send(f"file {result.summary.name} {result.statusCode.name} {len(content)} {zlib.crc32(content)}")


def repeating(ms: str, interval: str):
    return dnp3.TimeAndInterval(dnp3.DNPTime(int(ms)), int(interval), dnp3.IntervalUnits.Minutes)


def watch_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # threads of the library would keep the process alive


def main() -> None:
    threading.Thread(target=watch_stdin, daemon=True).start()
    control = Control()
    peer = Peer(control)
    for command, *arguments in control.lines():
        try:
            getattr(peer, command)(*arguments)
        except Exception as problem:  # the test shows it
            control.send(f"error {command} {problem!r}")
    os._exit(0)


if __name__ == "__main__":
    main()
