import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ODataService

/// One request and its response: the checks before the handler, the streams of the bodies and the line in the
/// log.
struct Exchange: Sendable {
    let configuration: ODataServer.Configuration
    let mounts: MountTable
    private let channels: OpenChannels
    private let door: FrontDoor

    init(
        configuration: ODataServer.Configuration, mounts: MountTable, channels: OpenChannels
    ) throws(ServerStartError) {
        self.configuration = configuration
        self.mounts = mounts
        self.channels = channels
        door = try FrontDoor(configuration)
    }

    func respond(to request: Request, _ connection: ConnectionContext) async -> Response {
        var head = request.head
        let address = connection.address(of: head, behind: configuration.hops)
        var record = AccessRecord(request: head, from: address, configuration: configuration)
        let malformed = door.settle(&head, connection)
        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
        var giveLeave: (@Sendable () -> Void)?
        if head.expectsContinue { giveLeave = { connection.giveLeaveToSend() } }
        let mount = mounts.mount(for: head)
        let maxBodySize = mount?.maxBodySize ?? configuration.maxBodySize
        let body = RequestBodyReader(
            request.body.makeAsyncIterator(), announced: length, limit: maxBodySize,
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
        if let refusal = configuration.limits.refusal(of: head) { return await outgoing.response(refusal, record) }
        guard let mount else { return await outgoing.response(mounts.misplaced, record) }
        if let refusal = door.crossSiteRefusal(of: head) { return await outgoing.response(refusal, record) }
        let principal: Principal?
        switch await door.principal(of: head, from: address.counted, connection, mount.authentication) {
        case .success(let known): principal = known
        case .failure(let refusal): return await outgoing.response(refusal, record)
        }
        record.principal = principal
        if let refusal = configuration.csrf?.refusal(of: head, by: principal) {
            return await outgoing.response(refusal, record)
        }
        if let length, length > maxBodySize {
            let refusal = Refusal(
                status: .contentTooLarge, code: "PayloadTooLarge", message: "The body exceeds \(maxBodySize) bytes.")
            return await outgoing.response(refusal, record)
        }
        if let admission = mount.admission {
            guard let permit = admission.enter() else { return await outgoing.response(.busy, record) }
            record.permit = permit
        }
        let context = await context(of: head, principal, from: address, on: connection, mount)
        let stream = ByteStream(length: length) { try await body.next() }
        let running = running(connection, principal.map { CallerID($0) } ?? CallerID(address: address.counted))
        return await running.perform { [head, record] in
            var outgoing = outgoing
            outgoing.running = running
            let answer = await mount.handler(head, stream, context)
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

    /// Returns the circumstances of a request for the handler of a mount.
    private func context(
        of head: HTTPRequest, _ principal: Principal?, from address: ClientAddress, on connection: ConnectionContext,
        _ mount: Mount
    ) async -> MountContext {
        var certificate: [UInt8]?
        if configuration.tls?.clientAuthorities != nil {
            certificate = try? await connection.clientCertificate()?.toDERBytes()
        }
        let hops = configuration.hops
        let isForwarded = hops > 0 && ClientAddress.isForwardedSecurely(head.headerFields, hops: hops)
        return MountContext(
            principal: principal, certificate: certificate, address: address.text, countedAddress: address.counted,
            isLoopback: address.isLoopback, isSecure: configuration.tls != nil || isForwarded,
            deadline: .now + mount.timeLimit)
    }
}
