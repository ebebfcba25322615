import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Testing

@testable import ODataClient

private struct ScriptedProbe: ConnectionProbe {
    let stream: AsyncStream<ConnectionFinding>
    func findings() -> AsyncStream<ConnectionFinding> { stream }
}

@Suite("The state of the connection") struct ConnectionMonitorTests {
    @Test("Requests and the probe determine the seven states, and each change is reported once") func states()
        async throws
    {
        let (stream, probe) = AsyncStream.makeStream(of: ConnectionFinding.self)
        let bandwidth = Bandwidth()
        let monitor = ConnectionMonitor(probe: ScriptedProbe(stream: stream), bandwidth: bandwidth)
        var states = monitor.states.makeAsyncIterator()
        #expect(await states.next() == .disconnected)
        monitor.noteAnswer()
        monitor.noteAnswer()
        #expect(await states.next() == .connected)
        for state in [ConnectionState.flightMode, .outOfCoverage, .lowOnStorage, .roaming] {
            probe.yield(ConnectionFinding(state, isExpensive: state == .roaming))
            #expect(await states.next() == state)
        }
        #expect(bandwidth.isExpensive)
        probe.yield(ConnectionFinding(.connected))
        #expect(await states.next() == .connected)
        monitor.noteWaiting()
        #expect(await states.next() == .waitingToConnect)
        monitor.noteAnswer()
        #expect(await states.next() == .connected)
        probe.yield(ConnectionFinding(.disconnected))
        #expect(await states.next() == .disconnected)
        monitor.noteAnswer()
        #expect(await states.next() == .connected)
        #expect(monitor.state == .connected)
        #expect(ConnectionState.allCases.map(\.rawValue) == Array(1...7))
    }

    @Test("A session reports the outcome of requests to its monitor") func traffic() async throws {
        let monitor = ConnectionMonitor()
        let wire = ScriptedWire { number, _ in
            if number < 3 { throw TransportError.cannotConnect(host: "h", reason: "") }
            return answer()
        }
        let seen = Reports()
        var configuration = HTTPSession.Configuration()
        configuration.monitor = monitor
        configuration.retry = RetryPolicy(random: { 0 }, sleep: { _ in #expect(monitor.state == .waitingToConnect) })
        let session = try HTTPSession(wire, serviceRoot: "https://service.test/", configuration: configuration)
        _ = try await session.send(request(), body: nil, options: TransferOptions(report: seen.report))
        #expect(monitor.state == .connected)
        #expect(seen.lines.count { $0.hasPrefix("interrupted") } == 2)
    }

    #if os(Linux)
        @Test("On Linux, interfaces, radios and storage determine the state") func interfaces() throws {
            let folder = NSTemporaryDirectory() + "outpost-sys-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            func set(_ file: String, _ text: String) throws {
                let path = "\(folder)/\(file)"
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try text.write(toFile: path, atomically: true, encoding: .utf8)
            }
            let probe = NetworkInterfaceProbe(leastStorage: 0, system: folder)
            try set("net/lo/operstate", "unknown\n")
            #expect(probe.look() == ConnectionFinding(.disconnected))
            try set("rfkill/rfkill0/soft", "1\n")
            #expect(probe.look() == ConnectionFinding(.flightMode))
            try set("net/wwan0/operstate", "up\n")
            #expect(probe.look() == ConnectionFinding(.connected, isExpensive: true))
            try set("net/eth0/operstate", "up\n")
            #expect(probe.look() == ConnectionFinding(.connected))
            #expect(
                NetworkInterfaceProbe(leastStorage: .max, system: folder).look() == ConnectionFinding(.lowOnStorage))
        }
    #endif
}
