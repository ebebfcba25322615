import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ODataService

/// One request and its response: the checks before the handler, the streams of the bodies and the line in the
/// log.
struct Exchange: Sendable {
    let configuration: ODataServer.Configuration
    let handler: ODataServer.IdentifiedHandler
    private let channels: OpenChannels
    private let door: FrontDoor

    init(
        configuration: ODataServer.Configuration, handler: @escaping ODataServer.IdentifiedHandler,
        channels: OpenChannels
    ) throws(ServerStartError) {
        self.configuration = configuration
        self.handler = handler
        self.channels = channels
        door = try FrontDoor(configuration)
    }

    func respond(to request: Request, _ connection: ConnectionContext) async -> Response {
        var head = request.head
        let address = connection.address(of: head, trustsForwarded: configuration.trustsForwarded)
        var record = AccessRecord(request: head, from: address, configuration: configuration)
        let malformed = door.settle(&head, connection)
        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
        var giveLeave: (@Sendable () -> Void)?
        if head.expectsContinue { giveLeave = { connection.giveLeaveToSend() } }
        let body = RequestBodyReader(
            request.body.makeAsyncIterator(), announced: length, limit: configuration.maxBodySize,
            giveLeave: giveLeave, connection.state(in: channels))
        let outgoing = OutgoingResponse(head: head, body: body, connection: connection, configuration: configuration)
        if let malformed { return await outgoing.response(malformed, record) }
        if let answer = await healthAnswer(to: head) { return await outgoing.response(answer, record) }
        if let refusal = door.misdirection(of: head) { return await outgoing.response(refusal, record) }
        switch door.enter(head, from: address.counted) {
        case .success(let place): record.place = place
        case .failure(let refusal): return await outgoing.response(refusal, record)
        }
        switch configuration.metrics?.answer(head, isFromThisMachine: connection.peer.isLoopback) {
        case .success(let answer)?: return await outgoing.response(answer, record)
        case .failure(let refusal)?: return await outgoing.response(refusal, record)
        case nil: break
        }
        if let answer = ownAnswer(to: head) { return await outgoing.response(answer, record) }
        if let refusal = refusal(of: head) ?? door.crossSiteRefusal(of: head) {
            return await outgoing.response(refusal, record)
        }
        let principal: Principal?
        switch await door.principal(of: head, from: address.counted, connection) {
        case .success(let known): principal = known
        case .failure(let refusal): return await outgoing.response(refusal, record)
        }
        record.principal = principal
        if let refusal = configuration.csrf?.refusal(of: head, by: principal) {
            return await outgoing.response(refusal, record)
        }
        if let length, length > configuration.maxBodySize {
            let refusal = Refusal(
                status: .contentTooLarge, code: "PayloadTooLarge",
                message: "The body exceeds \(configuration.maxBodySize) bytes.")
            return await outgoing.response(refusal, record)
        }
        let stream = ByteStream(length: length) { try await body.next() }
        let running = running(connection, principal.map { CallerID($0) } ?? CallerID(address: address.counted))
        return await running.perform { [head, record, handler, principal] in
            var outgoing = outgoing
            outgoing.running = running
            let answer = await handler(head, stream, principal)
            if answer.0.status.code >= 400, FrontDoor.isFurtherPage(head) { record.place?.count() }
            return await outgoing.response(answer, record)
        }
    }

    /// Returns the request as a running one with its budget, which can be cancelled.
    private func running(_ connection: ConnectionContext, _ caller: CallerID) -> RunningRequest {
        let running = RunningRequest(RequestBudget(configuration.requestBudget, caller: caller))
        connection.state(in: channels)?.begin(running)
        return running
    }

    /// Returns the server's own response about its health. The host is not checked, because load balancers use
    /// various names.
    private func healthAnswer(to head: HTTPRequest) async -> (HTTPResponse, ByteStream)? {
        await configuration.health?.answer(head, isStopping: channels.isStopping)
    }

    /// Returns the server's own response: to a preflight, or to a one-time code for a session.
    private func ownAnswer(to head: HTTPRequest) -> (HTTPResponse, ByteStream)? {
        if let answer = configuration.crossOrigin?.preflight(head) { return (answer, ByteStream([])) }
        for case let token as TokenSignIn in configuration.authentication {
            if let answer = token.session(for: head) { return (answer, ByteStream([])) }
        }
        return nil
    }

    /// Returns a refusal of a request that exceeds a limit or is outside of the service root.
    private func refusal(of head: HTTPRequest) -> Refusal? {
        if let refusal = configuration.limits.refusal(of: head) { return refusal }
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let prefixes = configuration.normalizedPrefixes
        guard !prefixes.contains(where: { path.hasPrefix($0) || path == $0.dropLast() }) else { return nil }
        return Refusal(
            status: .notFound, code: "NotFound",
            message: "The service root is \(prefixes.joined(separator: " or ")).")
    }
}
