import HTTPTypes
import ODataHTTP
import ODataService

/// Adds fields that intermediaries want: a relay's farm, a gateway's tenant, a sign-on cookie that another part of the
/// app renews. They are asked for each time a request is sent, repeats included, so what has changed is sent.
public struct HeaderTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let origins: Set<Origin>
    private let allowsPlainHTTP: Bool
    private let fields: @Sendable () async throws -> HTTPFields

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - origins: whom the fields go to; they may be secrets.
    ///   - allowsPlainHTTP: whether they may go to another machine without https.
    ///   - fields: gives them; a `Cookie` among them goes beside the request's own, others replace what is there.
    public init(
        _ base: any HTTPTransport, origins: Set<Origin>, allowsPlainHTTP: Bool = false,
        fields: @escaping @Sendable () async throws -> HTTPFields
    ) {
        self.base = base
        self.origins = origins
        self.allowsPlainHTTP = allowsPlainHTTP
        self.fields = fields
    }

    /// Sends a request with the fields.
    ///
    /// - Throws: `TransportError.plainHTTP`; what the closure throws, besides what the transport throws.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let origin = Origin(request), origins.contains(origin) else {
            return try await base.send(request, body: body, options: options)
        }
        var message = request
        for field in try await fields() {
            if field.name == .cookie, let own = message.headerFields[.cookie] {
                message.headerFields[.cookie] = "\(own); \(field.value)"
            } else {
                message.headerFields[field.name] = field.value
            }
        }
        guard allowsPlainHTTP || !origin.isPlain || !message.showsMore(than: request) else {
            throw TransportError.plainHTTP(host: origin.description)
        }
        return try await base.send(message, body: body, options: options)
    }
}
