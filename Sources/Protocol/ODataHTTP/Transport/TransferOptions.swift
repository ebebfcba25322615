import ODataService

/// The options of one request, including the observer of its progress.
///
/// Transports use the identity, the proxy credentials, the compression and ``report``; the transports around them
/// use the other options. A transport that does not support an identity or proxy credentials throws
/// ``TransportError/unsupportedOption(_:transport:)``, which `TransportCheck` tests.
///
/// ```swift
/// var options = TransferOptions()
/// options.priority = .high
/// options.wholeTimeout = .seconds(30)
/// let (response, body) = try await transport.send(request, body: nil, options: options)
/// ```
public struct TransferOptions: Sendable {
    /// The priority of a request in a queue.
    public enum Priority: Sendable, Hashable, CaseIterable {
        /// In the order of arrival.
        case normal
        /// Before requests of normal priority, but without starving them.
        case high
    }

    /// The maximum time from the start of the exchange (after the queue) to the last byte of the response; `nil`
    /// for the session's value.
    public var wholeTimeout: Duration?
    /// Whether a compressed response is requested; `nil` for the configuration of the transport.
    public var acceptsCompression: Bool?
    /// The priority in the queue of the session.
    public var priority: Priority
    /// The name of the request in the list of the queue, for people.
    public var label: String?
    /// The client certificate; `nil` for the configuration of the transport.
    public var clientIdentity: ClientIdentity?
    /// The value of `Proxy-Authorization` for a proxy that requires authentication; `nil` for the configuration of
    /// the transport.
    public var proxyAuthorization: String?
    /// Whether the request may be repeated although an earlier attempt may have been executed.
    ///
    /// Set it if the service recognises a repeat (OData Repeatable Requests 1.0) or a condition prevents it. With
    /// `nil`, the method decides (RFC 9110, 9.2.2).
    public var isRepeatable: Bool?
    /// The maximum size of a chunk of the response body; `nil` for the session's value.
    public var chunkSize: ChunkSize?
    /// Whether proxy credentials may be sent unencrypted to another machine; see
    /// ``TransportError/plainHTTP(host:)``.
    public var allowsPlainHTTP = false
    /// Records whether the request was sent.
    package var departure: Departure?
    /// Receives each event of the exchange, on any thread; it should return at once.
    public var report: (@Sendable (TransferEvent) -> Void)?

    /// Creates options, which by default change nothing.
    public init(
        wholeTimeout: Duration? = nil, acceptsCompression: Bool? = nil, priority: Priority = .normal,
        label: String? = nil, clientIdentity: ClientIdentity? = nil, proxyAuthorization: String? = nil,
        isRepeatable: Bool? = nil, chunkSize: ChunkSize? = nil,
        report: (@Sendable (TransferEvent) -> Void)? = nil
    ) {
        self.wholeTimeout = wholeTimeout
        self.acceptsCompression = acceptsCompression
        self.priority = priority
        self.label = label
        self.clientIdentity = clientIdentity
        self.proxyAuthorization = proxyAuthorization
        self.isRepeatable = isRepeatable
        self.chunkSize = chunkSize
        self.report = report
    }

    /// Returns the options with an additional listener, which is called first.
    public func reporting(to listener: @escaping @Sendable (TransferEvent) -> Void) -> TransferOptions {
        var options = self
        let other = report
        options.report = { event in
            listener(event)
            other?(event)
        }
        return options
    }
}

extension TransferOptions: CustomStringConvertible, CustomReflectable {
    /// The options without secrets.
    public var description: String {
        "TransferOptions(priority: \(priority), label: \(label ?? "none"), wholeTimeout: \(wholeTimeout as Duration?))"
    }
    /// A mirror without the contents.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
