import Foundation
import HTTPTypes
import Logging
import MobileProtocol
import ODataHTTP
import ODataService
import ServerState
import Testing

@testable import MobileServer

/// Conformance of `Messages` and `Subscriptions` (`mobile-server.md` 6.2, 6.4).
@Suite("Messages to devices") struct MessageTests {
    private static func message(_ text: String) -> NewDeviceMessage {
        NewDeviceMessage(kind: .custom, body: Array(#"{"text":"\#(text)"}"#.utf8))
    }

    private static func bodies(_ answer: LabServer.Answer) -> [String] {
        (answer.json["value"] as? [[String: Any]])?.compactMap { $0["Body"] as? String } ?? []
    }

    /// Returns the resource of the delta link.
    private static func link(_ answer: LabServer.Answer, _ server: LabServer) throws -> String {
        let link = try #require(answer.json["@deltaLink"] as? String)
        return String(link.dropFirst((server.root + server.api).count))
    }

    @Test("The delta link is a cursor: reading on confirms, and a lost answer is read again")
    func cursor() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let empty = try await device.send(server, .get, "Messages")
            #expect(Self.bodies(empty) == [])
            for text in ["a", "b"] {
                _ = try await lab.state.messages.send(Self.message(text), to: device.id, of: lab.application.id)
            }
            let other = try await device.send(server, .get, "Policies")
            let head = try await lab.state.messages.head(of: device.id, of: lab.application.id).head
            #expect(other.field(MobileFieldNames.messages) == "\(head)")
            let link = try Self.link(empty, server)
            for _ in 0..<2 {
                let first = try await device.send(server, .get, link)
                #expect(Self.bodies(first) == [#"{"text":"a"}"#, #"{"text":"b"}"#])
            }
            let first = try await device.send(server, .get, link)
            let next = try Self.link(first, server)
            #expect(try await lab.state.messages.head(of: device.id, of: lab.application.id).waiting == 2)
            let last = try await device.send(server, .get, next)
            #expect(Self.bodies(last) == [])
            #expect(try await lab.state.messages.head(of: device.id, of: lab.application.id).waiting == 0)
            #expect(try Self.link(last, server) == next)
            let odd = try await device.send(server, .get, "Messages?$deltatoken=x")
            #expect(odd.status == 400 && odd.code == "TokenInvalid")
        }
    }

    @Test("A request waits for a message, and no longer than it says")
    func longPoll() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let start = ContinuousClock.now
            let none = try await device.send(server, .get, "Messages", fields: ["Prefer": "wait=1"])
            #expect(none.status == 200 && Self.bodies(none) == [])
            #expect(none.field("Preference-Applied") == "wait")
            #expect(start.duration(to: .now) >= .milliseconds(900))
            async let held = device.send(server, .get, "Messages", fields: ["Prefer": "wait=60"])
            while lab.part.messages.bells.count == 0 { try await Task.sleep(for: .milliseconds(10)) }
            _ = try await lab.state.messages.send(Self.message("a"), to: device.id, of: lab.application.id)
            #expect(Self.bodies(try await held) == [#"{"text":"a"}"#])
            #expect(lab.part.messages.waiters.inUse == 0)
        }
    }

    @Test("A message of another process rings within the poll, without a notice")
    func lostNotice() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bells-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let keys = ServerKeys.generate()
        // Two states of one folder have a signal each, as two processes have.
        let state = try SQLiteServerState.open(folder: folder, keys: keys)
        let other = try SQLiteServerState.open(folder: folder, keys: keys)
        _ = try await state.migrate(dryRun: false)
        let shop = try await state.applications.add(named: "shop", title: "", domain: "default", state: .active)
        let user = try #require(
            try await state.registrations.user(of: shop.id, issuer: "i", subject: "ann", makingWith: "Ann"))
        _ = try await state.registrations.register(
            NewRegistration(
                application: shop.id, id: "R", user: user.id, security: "users", device: DeviceProperties(),
                settings: []))
        let bells = MessageBells(state: state, logger: Logger(label: "test"))
        let bell = bells.bell(of: "R", in: shop.id)
        // The first poll rings once, for what came before.
        _ = await bell.wait(until: .now + .seconds(30))
        _ = try await other.messages.send(Self.message("a"), to: "R", of: shop.id)
        #expect(await bell.wait(until: .now + .seconds(30)))
        bells.stop()
        await other.close()
        await state.close()
    }

    @Test("Server-sent events have the number as id, and continue behind the last one")
    func events() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let number = try #require(
                try await lab.state.messages.send(Self.message("a"), to: device.id, of: lab.application.id))
            func open(_ more: [String: String]) async throws -> ByteStream {
                let fields = try await device.fields(server, .get, "Messages").merging(more) { $1 }
                var request = HTTPRequest(
                    method: .get, scheme: "http", authority: "127.0.0.1:\(server.server.port)",
                    path: server.api + "Messages")
                for (name, value) in fields {
                    if let name = HTTPField.Name(name) { request.headerFields[name] = value }
                }
                request.headerFields[.accept] = "text/event-stream"
                let (response, stream) = try await server.transport.send(request, body: nil)
                #expect(response.status == .ok)
                #expect(response.headerFields[.contentType] == "text/event-stream")
                return stream
            }
            func read(_ stream: ByteStream, until mark: String) async throws -> String {
                var text = ""
                while !text.contains(mark), let chunk = try await stream.next() {
                    text += String(decoding: chunk, as: UTF8.self)
                }
                return text
            }
            let first = try await read(open([:]), until: "data: ")
            #expect(first.hasPrefix("retry: "))
            #expect(first.contains("id: \(number)\n"))
            let stream = try await open(["Last-Event-ID": "\(number)"])
            while lab.part.messages.waiters.inUse == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await lab.state.messages.head(of: device.id, of: lab.application.id).waiting == 0)
            _ = try await lab.state.messages.send(Self.message("b"), to: device.id, of: lab.application.id)
            let second = try await read(stream, until: "data: ")
            #expect(second.contains("b") && !second.contains("id: \(number)\n"))
        }
    }

    @Test("Messages that went unread are told with 410")
    func pruned() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            var message = Self.message("a")
            message.lifetime = .seconds(60)
            let number = try #require(try await lab.state.messages.send(message, to: device.id, of: lab.application.id))
            lab.advance(by: .seconds(120))
            while try await lab.state.expire(RetentionAges()) {}
            let gone = try await device.send(server, .get, "Messages?$deltatoken=\(number - 1)")
            #expect(gone.status == 410 && gone.code == "DeltaTokenExpired")
            #expect(try await device.send(server, .get, "Messages").status == 200)
        }
    }

    @Test("The number of requests that wait has a limit")
    func waiters() async throws {
        var limits = LabLimits.high
        limits.waiters = 1
        let lab = try await DeviceLab(limits: limits)
        try await lab.run { server in
            let (device, other) = (LabDevice(), LabDevice())
            try await device.register(server)
            try await other.register(server)
            async let held = device.send(server, .get, "Messages", fields: ["Prefer": "wait=60"])
            while lab.part.messages.waiters.inUse == 0 { try await Task.sleep(for: .milliseconds(10)) }
            let busy = try await other.send(server, .get, "Messages", fields: ["Prefer": "wait=60"])
            #expect(busy.status == 503 && busy.field("Retry-After") != nil)
            #expect(try await other.send(server, .get, "Messages").status == 200)
            lab.part.messages.bells.stop()
            #expect(try await held.status == 200)
        }
    }

    @Test("A subscription is suspended and resumed, and names a known query")
    func subscriptions() async throws {
        let lab = try await DeviceLab {
            var destination = DestinationConfiguration(url: "https://shop.example/")
            destination.queries["Orders"] = QueryConfiguration("Orders")
            $0.destinations["shop"] = destination
        }
        try await lab.run { server in
            let device = LabDevice()
            try await device.register(server)
            let resource = "Subscriptions(Destination='shop',Query='Orders')"
            let made = try await device.send(
                server, .patch, resource, body: #"{"IsSuspended":true,"Parameters":"{\"plant\":1}"}"#)
            #expect(made.status == 201)
            let listed = try await device.send(server, .get, "Subscriptions")
            let member = (listed.json["value"] as? [[String: Any]])?.first
            #expect(member?["IsSuspended"] as? Bool == true)
            #expect(member?["Parameters"] as? String == #"{"plant":1}"#)
            #expect(try await device.send(server, .patch, resource, body: #"{"IsSuspended":false}"#).status == 204)
            let one = try await device.send(server, .get, resource)
            #expect(one.json["IsSuspended"] as? Bool == false && one.json["Parameters"] as? String == #"{"plant":1}"#)
            let unknown = "Subscriptions(Destination='shop',Query='Secrets')"
            #expect(try await device.send(server, .patch, unknown, body: "{}").status == 404)
            #expect(try await device.send(server, .patch, resource, body: #"{"Parameters":"{"}"#).status == 400)
        }
    }

    @Test("A device reads no messages of another device")
    func foreign() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let (device, other) = (LabDevice(), LabDevice())
            try await device.register(server)
            try await other.register(server)
            _ = try await lab.state.messages.send(Self.message("a"), to: device.id, of: lab.application.id)
            #expect(Self.bodies(try await other.send(server, .get, "Messages")) == [])
            #expect(Self.bodies(try await device.send(server, .get, "Messages?$top=1")) == [#"{"text":"a"}"#])
        }
    }

    @Test("A change of a shared feed is told to online devices that subscribe and have not suspended it")
    func sync() async throws {
        let lab = try await DeviceLab()
        try await lab.run { server in
            let (online, native, suspended) = (LabDevice(), LabDevice(), LabDevice())
            for device in [online, native, suspended] {
                let mode = device.id == native.id ? "native" : "online"
                try await device.register(server, more: #","NotificationMode":"\#(mode)""#)
                _ = try await lab.state.messages.setSubscription(
                    DeviceSubscriptionRecord(
                        destination: "shop", query: "Orders", isSuspended: device.id == suspended.id),
                    registration: device.id, of: lab.application.id)
            }
            let made = try await lab.state.feeds.feed(
                [UInt8](repeating: 1, count: 32),
                makingWith: FeedRecord(
                    key: [UInt8](repeating: 1, count: 32), application: lab.application.id, destination: "shop",
                    query: "Orders", configuration: 1, visibility: .shared, tracking: "compare"))
            let feed = try #require(made)
            for _ in 0..<2 { await lab.part.messages.announcer.announce(feed: feed.id) }
            #expect(
                Self.bodies(try await online.send(server, .get, "Messages"))
                    == [#"{"destination":"shop","query":"Orders"}"#])
            for device in [native, suspended] {
                #expect(Self.bodies(try await device.send(server, .get, "Messages")) == [])
            }
        }
    }
}
