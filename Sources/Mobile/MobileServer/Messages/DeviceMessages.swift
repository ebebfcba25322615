import Foundation
import HTTPTypes
import MobileProtocol
import ODataModel
import ODataServer
import ODataService
import ServerState

/// The sets `Messages` and `Subscriptions` of the device API: the durable channel to a device.
///
/// | request | effect |
/// | --- | --- |
/// | `GET Messages` | Reads the waiting messages. The delta link is the cursor. |
/// | `GET Messages?$deltatoken=N` | Confirms all messages up to `N`, and reads those after it. |
/// | … with `Prefer: wait=30` | Waits until there is a message, at most for that many seconds. |
/// | … with `Accept: text/event-stream` | Streams messages. `Last-Event-ID` confirms and continues. |
/// | `PATCH Subscriptions(Destination='d',Query='q')` | Suspends or resumes a subscription, or sets its parameters. |
///
/// Messages arrive at least once and in order; a device skips numbers that it knows.
struct DeviceMessages: DeviceResource {
    /// The longest wait, in seconds.
    static let longestWait = 60
    /// The time between two comments of a stream, by which both sides notice the end of the connection.
    static let heartbeat = Duration.seconds(20)
    /// The time after which a stream ends, so that its device shows its credentials again.
    static let streamTime = Duration.seconds(3600)
    /// The maximum number of messages in one answer.
    static let page = 100

    let services: NodeServices
    let shapes: DeviceModel
    let bells: MessageBells
    let announcer: MessageAnnouncer
    /// The requests that wait on this node.
    let waiters: AdmissionClass

    init(services: NodeServices, shapes: DeviceModel) {
        self.services = services
        self.shapes = shapes
        bells = MessageBells(state: services.state, logger: services.logger)
        announcer = MessageAnnouncer(state: services.state, logger: services.logger)
        waiters = AdmissionClass(name: "waiters", limit: services.configuration.limits.waiters)
    }

    func answer(
        _ head: HTTPRequest, _ body: ByteStream, for caller: DeviceRequest, at address: DeviceAddresses.Address
    ) async throws -> (HTTPResponse, ByteStream)? {
        guard let name = DeviceResourceName(address.resource.path) else { return nil }
        switch (name.set, name.key, head.method) {
        case ("Messages", nil, .get): return try await read(head, caller, root: address.publicRoot)
        case ("Subscriptions", let key?, .patch), ("Subscriptions", let key?, .put):
            return try await subscribe(key, body, for: caller)
        default: return nil
        }
    }

    private func store() throws(ODataError) -> any DeviceMessageStore {
        do throws(ServerStateError) {
            return try services.state.deviceServices().messages
        } catch {
            throw ODataError(error)
        }
    }

    /// Returns the highest number of the messages of a registration; `nil` if the state does not answer.
    func head(of registration: RegistrationRecord) async -> Int64? {
        let head = try? await services.state.deviceServices().messages.head(
            of: registration.id, of: registration.application)
        return head?.head
    }

    // MARK: Reading

    private func read(
        _ head: HTTPRequest, _ caller: DeviceRequest, root: String
    ) async throws -> (HTTPResponse, ByteStream)? {
        let options = try DeviceURLOptions(head.path)
        let isStream = head.headerFields[.accept]?.lowercased().contains("text/event-stream") == true
        // Other options are for the OData handler, which reads without a cursor.
        guard isStream || Self.hasCursorOnly(head.path) else { return nil }
        let registration = try registration(of: caller)
        var cursor = try Self.number(options["$deltatoken"], "$deltatoken")
        if isStream, let text = head.mobileField("Last-Event-ID") {
            cursor = try Self.number(text, "Last-Event-ID")
        }
        let store = try store()
        let known = try await translatingState { () async throws(ServerStateError) in
            try await store.head(of: registration.id, of: registration.application)
        }
        if let cursor {
            guard cursor >= known.floor else { throw Self.pruned }
            if known.waiting > 0 { try await confirm(cursor, of: registration, in: store) }
        }
        let reader = Reader(registration: registration, store: store)
        if isStream { return try stream(reader, after: cursor ?? 0, caller) }
        let seconds = Self.wait(head)
        var messages = try await reader.messages(after: cursor ?? 0)
        if messages.isEmpty, let seconds {
            guard let permit = waiters.enter() else { throw Self.busy }
            defer { permit.leave() }
            messages = try await wait(for: seconds, reader, after: cursor ?? 0)
        }
        let next = messages.last?.number ?? max(cursor ?? 0, known.head)
        var (response, stream) = DeviceAnswer.json(.ok, json(messages, next: next, root: root))
        response.set(MobileFieldNames.messages, String(next))
        if seconds != nil { response.set("Preference-Applied", "wait") }
        return (response, stream)
    }

    private static var busy: ODataError {
        ODataError(.busy, "Too many requests wait for messages.", retryAfter: 5 + Int.random(in: 0...60))
    }

    private static var pruned: ODataError {
        var error = ODataError(
            status: 410, code: MobileErrorName.deltaTokenExpired.rawValue,
            message: "Messages went before they were read. Read everything again.", target: "Messages")
        error.innerError = #"{"reason":"pruned"}"#
        return error
    }

    private static func number(_ text: String?, _ name: String) throws(ODataError) -> Int64? {
        guard let text else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw ODataError(.tokenInvalid, "The cursor cannot be read.", target: name)
        }
        return number
    }

    private static func hasCursorOnly(_ path: String?) -> Bool {
        guard let path, let mark = path.firstIndex(of: "?") else { return true }
        return path[mark...].dropFirst().split(separator: "&").allSatisfy { option in
            ["$deltatoken", "%24deltatoken"].contains(option.prefix { $0 != "=" }.lowercased())
        }
    }

    /// Returns the seconds of `Prefer: wait=N`; `nil` without it.
    private static func wait(_ head: HTTPRequest) -> Int? {
        guard let text = head.mobileField("Prefer") else { return nil }
        for preference in text.split(separator: ",") {
            let parts = preference.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces).lowercased()
            }
            if parts.count == 2, parts[0] == "wait", let seconds = Int(parts[1]), seconds > 0 {
                return min(seconds, longestWait)
            }
        }
        return nil
    }

    /// Removes the messages up to a number, if there are any.
    private func confirm(
        _ number: Int64, of registration: RegistrationRecord, in store: any DeviceMessageStore
    ) async throws {
        let first = try await translatingState { () async throws(ServerStateError) in
            try await store.messages(of: registration.id, of: registration.application, after: 0, limit: 1)
        }
        guard let first = first.first, first.number <= number else { return }
        try await translatingState { () async throws(ServerStateError) in
            try await store.confirm(
                through: number, registration: registration.id, of: registration.application)
        }
        CrashPoint.pass("messages-confirmed")
    }

    /// The messages of one registration.
    private struct Reader {
        let registration: RegistrationRecord
        let store: any DeviceMessageStore

        func messages(after number: Int64) async throws(ODataError) -> [DeviceMessageRecord] {
            try await translatingState { () async throws(ServerStateError) in
                try await store.messages(
                    of: registration.id, of: registration.application, after: number, limit: DeviceMessages.page)
            }
        }
    }

    // MARK: Waiting

    private func wait(
        for seconds: Int, _ reader: Reader, after cursor: Int64
    ) async throws -> [DeviceMessageRecord] {
        let deadline = ContinuousClock.now + .seconds(seconds)
        // The bell comes before the look, so that no message falls between the two.
        let bell = bells.bell(of: reader.registration.id, in: reader.registration.application)
        var messages = try await reader.messages(after: cursor)
        while messages.isEmpty, deadline > .now, !bell.isStopped {
            let hasRung = await bell.wait(until: deadline)
            try Task.checkCancellation()
            if hasRung { messages = try await reader.messages(after: cursor) }
        }
        return messages
    }

    private func stream(
        _ reader: Reader, after cursor: Int64, _ caller: DeviceRequest
    ) throws -> (HTTPResponse, ByteStream) {
        guard let permit = waiters.enter() else { throw Self.busy }
        let bell = bells.bell(of: reader.registration.id, in: reader.registration.application)
        let position = StreamPosition(cursor)
        let end = ContinuousClock.now + Self.streamTime
        let registrations = services.state.registrations
        let stream = ByteStream {
            guard await position.begin() else { return Self.opening }
            while end > .now, !bell.isStopped {
                let messages = try await reader.messages(after: await position.value)
                if let last = messages.last {
                    await position.move(to: last.number)
                    return messages.flatMap { event($0) }
                }
                let hasRung = await bell.wait(until: min(end, .now + Self.heartbeat))
                try Task.checkCancellation()
                // A device that was locked or removed meanwhile reads no further.
                let registration = reader.registration
                let present = try await registrations.registration(registration.id, of: registration.application)
                guard let present, present.state == .registered, present.lock == .none else { break }
                if !hasRung { return Array(": \n\n".utf8) }
            }
            permit.leave()
            return nil
        }
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "text/event-stream"
        response.headerFields[.cacheControl] = "no-store"
        return (response, stream)
    }

    /// The beginning of a stream: the time after which a device comes back, spread so that not all come at once.
    private static var opening: [UInt8] { Array("retry: \(Int.random(in: 1000...10_000))\n\n".utf8) }

    private func event(_ message: DeviceMessageRecord) -> [UInt8] {
        var writer = JSONWriter()
        write(message, to: &writer)
        return Array("id: \(message.number)\nevent: message\ndata: ".utf8) + writer.bytes + Array("\n\n".utf8)
    }

    // MARK: JSON

    private func json(_ messages: [DeviceMessageRecord], next: Int64, root: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("@context")
        writer.string("\(root)$metadata#Messages/$delta")
        writer.key("value")
        writer.beginArray()
        for message in messages { write(message, to: &writer) }
        writer.endArray()
        writer.key(messages.count == Self.page ? "@nextLink" : "@deltaLink")
        writer.string("\(root)Messages?$deltatoken=\(next)")
        writer.endObject()
        return writer.bytes
    }

    /// Writes a message. Its body is a text, so that nothing in it is taken for a part of the answer.
    private func write(_ message: DeviceMessageRecord, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("Number")
        writer.integer(message.number)
        writer.key("Kind")
        writer.string(message.kind.rawValue)
        writer.key("Body")
        writer.string(String(decoding: message.body, as: UTF8.self))
        writer.key("CreatedAt")
        writer.string(ODataDateTimeOffset(message.createdAt).description)
        writer.endObject()
    }

    // MARK: Subscriptions

    private struct Subscription: Decodable {
        var isSuspended: Bool?
        var parameters: String?

        enum CodingKeys: String, CodingKey {
            case isSuspended = "IsSuspended"
            case parameters = "Parameters"
        }
    }

    private func subscribe(
        _ key: [String: String], _ body: ByteStream, for caller: DeviceRequest
    ) async throws -> (HTTPResponse, ByteStream) {
        let registration = try registration(of: caller)
        guard let destination = key["Destination"], let query = key["Query"], key.count == 2,
            caller.application.configuration.destinations[destination]?.queries[query] != nil
        else { throw ODataError.notFound("The defining query") }
        let bytes = try await body.collect(limit: DeviceMessageLimits.parameters * 2)
        guard let given = try? JSONDecoder().decode(Subscription.self, from: Data(bytes)) else {
            throw ODataError(.invalidProperty, "The body is an object with IsSuspended and Parameters.")
        }
        let store = try store()
        let known = try await translatingState { () async throws(ServerStateError) in
            try await store.subscriptions(of: registration.id, of: registration.application)
        }.first { $0.destination == destination && $0.query == query }
        var subscription = known ?? DeviceSubscriptionRecord(destination: destination, query: query)
        if let isSuspended = given.isSuspended { subscription.isSuspended = isSuspended }
        if let parameters = given.parameters {
            let json = Array(parameters.utf8)
            do throws(JSONError) {
                try JSONMerge.check(json)
            } catch {
                throw ODataError(.invalidProperty, "Parameters is no JSON: \(error)", target: "Parameters")
            }
            subscription.parameters = json
        }
        let changed = try await translatingState { [subscription] () async throws(ServerStateError) in
            try await store.setSubscription(subscription, registration: registration.id, of: registration.application)
        }
        var (response, stream) = DeviceAnswer.empty(known == nil ? .created : .noContent)
        response.headerFields[.eTag] = DeviceDocuments.etag(changed.version)
        return (response, stream)
    }
}

/// The position of a stream of messages.
private actor StreamPosition {
    private(set) var value: Int64
    private var hasBegun = false

    init(_ value: Int64) { self.value = value }

    /// Returns `false` at the first call.
    func begin() -> Bool {
        defer { hasBegun = true }
        return hasBegun
    }

    func move(to number: Int64) { value = number }
}
