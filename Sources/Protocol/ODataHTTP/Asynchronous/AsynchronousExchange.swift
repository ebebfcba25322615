import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// Answers requests that prefer an asynchronous response, and requests to status monitors (OData Protocol 4.01,
/// 8.2.8.8, 8.2.8.10, 8.3.1 and 11.6).
struct AsynchronousExchange {
    /// The path of all monitors below the service root.
    static let path = "$async/"
    /// The query option in a monitor's URL with the number of batch responses that the client already has.
    static let positionOption = "$skiptoken="
    /// The time after which the monitor of a running batch returns the responses so far.
    static let interimDelay = Duration.milliseconds(250)
    /// The maximum time that a connection is held open for `wait`, in seconds.
    static let maxWait = 60
    /// The suggested interval between requests to a monitor, in seconds.
    static let retryAfter = 1

    let monitors: StatusMonitors
    let version: ODataVersion
    /// The service root from the client's point of view.
    let serviceRoot: ServiceRoot
    /// The principal that may fetch the response.
    let owner: CallerID?
    /// The caller to which the memory of the response is charged.
    let caller: CallerID?

    // MARK: Beginning

    /// Responds immediately if the work is quick enough, otherwise with the URL of a monitor.
    ///
    /// - Parameters:
    ///   - wait: the number of seconds that the client is prepared to wait for the response itself.
    ///   - progress: retains the responses to a batch while other requests are executed.
    ///   - work: computes the response.
    func begin(
        wait: Int?, _ progress: BatchProgress? = nil,
        _ work: @escaping @Sendable () async -> (HTTPResponse, ByteStream)
    ) async -> (HTTPResponse, ByteStream) {
        // If too many requests are running, the preference is ignored, which the standard allows.
        guard let id = await monitors.begin(for: owner, caller, progress, work) else { return await work() }
        if let wait, wait > 0 {
            await monitors.wait(for: id, atMost: .seconds(min(wait, Self.maxWait)))
            if case .finished(let answer, let batch) = await monitors.state(of: id, for: owner),
                let whole = try? await whole(answer, batch)
            {
                _ = await monitors.cancel(id, for: owner)
                return whole
            }
        }
        var response = accepted(id)
        response.headerFields[.preferenceApplied] = "respond-async"
        return (response, ByteStream([]))
    }

    private func address(_ id: String, from position: Int = 0) -> String {
        serviceRoot.url(for: Self.path + id + (position > 0 ? "?\(Self.positionOption)\(position)" : ""))
    }

    private func accepted(_ id: String, from position: Int = 0) -> HTTPResponse {
        var response = HTTPResponse(status: .accepted)
        response.headerFields[.odataVersion] = version.rawValue
        response.headerFields[.location] = address(id, from: position)
        response.headerFields[.retryAfter] = String(Self.retryAfter)
        return response
    }

    // MARK: Monitors

    /// Answers a request to a monitor.
    ///
    /// - Parameter position: the number of batch responses that the client already has.
    func answer(
        _ message: HTTPRequest, id: String, from position: Int = 0
    ) async throws(ODataError) -> (HTTPResponse, ByteStream) {
        switch message.method {
        case .get, .head: return try await result(of: id, from: position, for: message)
        case .delete:
            guard await monitors.cancel(id, for: owner) else { throw Self.gone }
            var response = HTTPResponse(status: .noContent)
            response.headerFields[.odataVersion] = version.rawValue
            return (response, ByteStream([]))
        default:
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "A status monitor can only be read or deleted.",
                allowedMethods: ["GET", "HEAD", "DELETE"])
        }
    }

    private func result(
        of id: String, from position: Int, for message: HTTPRequest
    ) async throws(ODataError) -> (HTTPResponse, ByteStream) {
        var state = await monitors.state(of: id, for: owner)
        if case .running(.some) = state {
            // Most batches finish before a client could use a partial result.
            await monitors.wait(for: id, atMost: Self.interimDelay)
            state = await monitors.state(of: id, for: owner)
        }
        switch state {
        case .gone: throw Self.gone
        case .running(let progress):
            if let answer = await progress?.interim(from: position, { address(id, from: $0) }) {
                return finished(answer, message)
            }
            return (accepted(id, from: position), ByteStream([]))
        case .finished(let answer, let batch):
            let (head, rest) = try await whole(answer, batch, from: position)
            do {
                return finished(.init(head: head, body: try await rest.collect(limit: .max)), message)
            } catch {
                throw ODataError.internalError
            }
        }
    }

    /// Returns a retained response; the responses to a batch start at a position.
    private func whole(
        _ answer: StatusMonitors.Answer, _ batch: BatchProgress?, from position: Int = 0
    ) async throws(ODataError) -> (HTTPResponse, ByteStream) {
        guard let batch, answer.head.status == .ok else { return (answer.head, ByteStream(answer.body)) }
        return try await batch.answer(from: position)
    }

    /// Returns the result of a finished request.
    private func finished(_ answer: StatusMonitors.Answer, _ message: HTTPRequest) -> (HTTPResponse, ByteStream) {
        var response = answer.head
        var body = answer.body
        let version = version(of: answer, for: message.headerFields)
        if wantsMessage(message.headerFields, in: version) {
            body = Self.message(answer)
            response = HTTPResponse(status: .ok)
            response.headerFields[.odataVersion] = version.rawValue
            response.headerFields[.contentType] = "application/http"
            response.headerFields[.contentTransferEncoding] = "binary"
        }
        response.headerFields[.asyncResult] = String(answer.head.status.code)
        response.status = .ok
        return (response, ByteStream(body))
    }

    /// Returns the version of a monitor's response: the version of the request to the monitor.
    ///
    /// If that request states no version, the version of the original request is used (OData Protocol 4.01, 11.6).
    private func version(of answer: StatusMonitors.Answer, for fields: HTTPFields) -> ODataVersion {
        guard fields[.odataMaxVersion] == nil, fields[.odataVersion] == nil else { return version }
        return answer.head.headerFields[.odataVersion].flatMap { ODataVersion(rawValue: $0) } ?? version
    }

    /// Returns whether the result is wrapped as an HTTP message in the body.
    ///
    /// Clients can request the form, and it is the only one in 4.0 (OData Protocol 4.0, 11.6).
    private func wantsMessage(_ fields: HTTPFields, in version: ODataVersion) -> Bool {
        let accept = fields[values: .accept].joined(separator: ",")
        let ranges = MediaType.list(accept) ?? []
        if ranges.contains(where: { $0.type == "application" && $0.subtype == "http" }) { return true }
        return version < .v401 && ranges.allSatisfy { $0.type == "*" }
    }

    /// Returns a response as the text of an HTTP message (RFC 9112, 10.2).
    private static func message(_ answer: StatusMonitors.Answer) -> [UInt8] {
        let status = answer.head.status.code
        var text = "HTTP/1.1 \(status) \(MultipartBatch.reason(status))\r\n"
        for field in answer.head.headerFields where field.name != .contentLength {
            text += "\(field.name.rawName): \(field.value)\r\n"
        }
        text += "Content-Length: \(answer.body.count)\r\n\r\n"
        return Array(text.utf8) + answer.body
    }

    private static let gone = ODataError(
        status: 404, code: "NotFound", message: "There is no such request, or its answer is no longer kept.")
}
