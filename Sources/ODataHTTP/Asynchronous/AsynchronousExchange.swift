import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// Answers requests that prefer an answer later, and requests to status monitors
/// (OData Protocol 4.01, 8.2.8.8, 8.2.8.10, 8.3.1 and 11.6).
struct AsynchronousExchange {
    /// The path of all monitors below the service root.
    static let path = "$async/"
    /// The longest that a connection is held open for `wait`, in seconds.
    static let maxWait = 60
    /// When to look again, in seconds.
    static let retryAfter = 1

    let monitors: StatusMonitors
    let version: ODataVersion
    /// The service root as clients see it.
    let serviceRoot: ServiceRoot
    /// Who asks: nobody else sees the answer.
    let principal: Principal?

    // MARK: Beginning

    /// Answers now if that is quick enough, else with the address of a monitor.
    ///
    /// - Parameters:
    ///   - wait: the seconds that the client is ready to wait for the answer itself.
    ///   - work: what answers.
    func begin(
        wait: Int?, _ work: @escaping @Sendable () async -> (HTTPResponse, ByteStream)
    ) async -> (HTTPResponse, ByteStream) {
        // With too many under way already, the preference is not followed, as a service is free to do.
        guard let id = await monitors.begin(for: principal, work) else { return await work() }
        if let wait, wait > 0 {
            await monitors.wait(for: id, atMost: .seconds(min(wait, Self.maxWait)))
            if case .finished(let answer) = await monitors.state(of: id, for: principal) {
                _ = await monitors.cancel(id, for: principal)
                return (answer.head, ByteStream(answer.body))
            }
        }
        var response = accepted(id)
        response.headerFields[.preferenceApplied] = "respond-async"
        return (response, ByteStream([]))
    }

    private func accepted(_ id: String) -> HTTPResponse {
        var response = HTTPResponse(status: .accepted)
        response.headerFields[.odataVersion] = version.rawValue
        response.headerFields[.location] = serviceRoot.url(for: Self.path + id)
        response.headerFields[.retryAfter] = String(Self.retryAfter)
        return response
    }

    // MARK: Monitors

    /// Answers a request to a monitor.
    func answer(_ message: HTTPRequest, id: String) async throws(ODataError) -> (HTTPResponse, ByteStream) {
        switch message.method {
        case .get, .head: return try await result(of: id, for: message)
        case .delete:
            guard await monitors.cancel(id, for: principal) else { throw Self.gone }
            var response = HTTPResponse(status: .noContent)
            response.headerFields[.odataVersion] = version.rawValue
            return (response, ByteStream([]))
        default:
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "A status monitor is read or deleted.",
                allowedMethods: ["GET", "HEAD", "DELETE"])
        }
    }

    private func result(
        of id: String, for message: HTTPRequest
    ) async throws(ODataError) -> (HTTPResponse, ByteStream) {
        switch await monitors.state(of: id, for: principal) {
        case .gone: throw Self.gone
        case .running: return (accepted(id), ByteStream([]))
        case .finished(let answer):
            var response = answer.head
            var body = answer.body
            if wantsMessage(message.headerFields) {
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
    }

    /// Whether the answer comes as a message within the message: for who asks for it, and for clients of 4.0, which
    /// know no other form (OData Protocol 4.0, 11.6).
    private func wantsMessage(_ fields: HTTPFields) -> Bool {
        let accept = fields[values: .accept].joined(separator: ",")
        let ranges = MediaType.list(accept) ?? []
        if ranges.contains(where: { $0.type == "application" && $0.subtype == "http" }) { return true }
        return version < .v401 && ranges.allSatisfy { $0.type == "*" }
    }

    /// An answer as the text of an HTTP message (RFC 9112, 10.2).
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
