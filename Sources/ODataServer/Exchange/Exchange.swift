import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ODataService

/// One request and its response: the checks before the handler, the streams around it, the line in the log.
struct Exchange: Sendable {
    let configuration: ODataServer.Configuration
    let handler: ODataServer.IdentifiedHandler
    let channels: OpenChannels

    func respond(to request: Request, _ connection: ConnectionContext) async -> Response {
        var record = AccessRecord(request: request.head, configuration: configuration)
        var head = request.head
        head.scheme = configuration.tls == nil ? "http" : "https"
        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
        var giveLeave: (@Sendable () -> Void)?
        if head.expectsContinue { giveLeave = { connection.giveLeaveToSend() } }
        let body = RequestBodyReader(
            request.body.makeAsyncIterator(), announced: length, limit: configuration.maxBodySize,
            giveLeave: giveLeave, connection.state(in: channels))
        let outgoing = OutgoingResponse(head: head, body: body, connection: connection, configuration: configuration)
        if let answer = await ownAnswer(to: head) { return await outgoing.response(answer, record) }
        if let refusal = refusal(of: head) { return await outgoing.response(refusal, record) }
        var principal: Principal?
        if !configuration.authentication.isEmpty {
            let certificate = await connection.clientCertificate()
            for method in configuration.authentication where principal == nil {
                principal = await method.principal(of: head, certificate: certificate)
            }
            guard principal != nil else { return await outgoing.response(unauthorized, record) }
        }
        record.principal = principal
        if let refusal = configuration.csrf?.refusal(of: head) { return await outgoing.response(refusal, record) }
        if let length, length > configuration.maxBodySize {
            let refusal = Refusal(
                status: .contentTooLarge, code: "PayloadTooLarge",
                message: "The body exceeds \(configuration.maxBodySize) bytes.")
            return await outgoing.response(refusal, record)
        }
        let stream = ByteStream(length: length) { try await body.next() }
        let running = running(connection, principal)
        return await running.perform { [head, record, handler, principal] in
            var outgoing = outgoing
            outgoing.running = running
            return await outgoing.response(await handler(head, stream, principal), record)
        }
    }

    /// The request as one that can be stopped, with its budget.
    private func running(_ connection: ConnectionContext, _ principal: Principal?) -> RunningRequest {
        let caller = principal.map { CallerID($0) } ?? connection.address.map { CallerID(address: $0) }
        let running = RunningRequest(RequestBudget(configuration.requestBudget, caller: caller))
        connection.state(in: channels)?.begin(running)
        return running
    }

    /// What the server answers itself: how it is, and what scripts of other origins may do.
    private func ownAnswer(to head: HTTPRequest) async -> (HTTPResponse, ByteStream)? {
        if let health = configuration.health, head.path?.prefix(while: { $0 != "?" }) == health.path[...] {
            return await health.answer(head)
        }
        return configuration.crossOrigin?.preflight(head).map { ($0, ByteStream([])) }
    }

    /// What stands against looking at the request any further.
    private func refusal(of head: HTTPRequest) -> Refusal? {
        if let refusal = configuration.limits.refusal(of: head) { return refusal }
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let prefixes = configuration.normalizedPrefixes
        guard !prefixes.contains(where: { path.hasPrefix($0) || path == $0.dropLast() }) else { return nil }
        return Refusal(
            status: .notFound, code: "NotFound",
            message: "The service root is \(prefixes.joined(separator: " or ")).")
    }

    private var unauthorized: Refusal {
        var fields = HTTPFields()
        for challenge in configuration.authentication.compactMap(\.challenge) {
            fields.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        }
        return Refusal(
            status: .unauthorized, code: "Unauthorized", message: configuration.authentication[0].explanation,
            fields: fields)
    }
}
