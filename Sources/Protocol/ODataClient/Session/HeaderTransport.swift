import HTTPTypes
import ODataHTTP
import ODataService

/// Adds header fields for intermediaries: the farm of a relay, the tenant of a gateway, or a sign-on cookie
/// that the app renews. The fields are computed each time a request is sent, including repeats.
public struct HeaderTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let origins: Set<Origin>
    private let allowsPlainHTTP: Bool
    private let fields: @Sendable () async throws -> HTTPFields

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - origins: The origins that receive the fields, which may be secrets.
    ///   - allowsPlainHTTP: Whether the fields may be sent to another machine without TLS.
    ///   - fields: Returns the fields. A `Cookie` is added to that of the request; other fields replace
    ///     existing ones.
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
    /// - Throws: `TransportError.plainHTTP`; otherwise the errors of the closure and of the transport.
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
