import ODataService

/// What is different for one request, and who wants to know how it goes.
///
/// Transports read the identity, the proxy's credentials, the packing and ``report``; the rest is for the steps around
/// them. A transport that cannot show an identity or a proxy's credentials refuses the request with
/// ``TransportError/unsupportedOption(_:transport:)``; `TransportCheck` checks it.
public struct TransferOptions: Sendable {
    /// Where a request stands in a queue.
    public enum Priority: Sendable, Hashable, CaseIterable {
        /// In the order of coming.
        case normal
        /// Before those of normal priority, though not for ever.
        case high
    }

    /// How long the whole exchange may take, from its start (after waiting in a queue) to the last byte of the
    /// response; `nil` for what the session says.
    public var wholeTimeout: Duration?
    /// Whether a packed answer is asked for; `nil` for what the transport is configured with.
    public var acceptsCompression: Bool?
    /// Where the request stands in the session's queue.
    public var priority: Priority
    /// A name under which the request stands in the queue's list, for people.
    public var label: String?
    /// Who the client is within TLS; `nil` for what the transport is configured with.
    public var clientIdentity: ClientIdentity?
    /// The value of `Proxy-Authorization` for a proxy that asks for one; `nil` for what the transport is
    /// configured with.
    public var proxyAuthorization: String?
    /// Whether the request may be sent again although it may have acted, because the service recognises a repeat
    /// (OData Repeatable Requests 1.0) or a condition guards it; `nil` lets the method decide (RFC 9110, 9.2.2).
    public var isRepeatable: Bool?
    /// How many bytes a chunk of the response's body has at most; `nil` for what the session says.
    public var chunkSize: ChunkSize?
    /// Whether credentials for a proxy may go to it unencrypted, unless it is on this machine; see
    /// ``TransportError/plainHTTP(host:)``.
    public var allowsPlainHTTP = false
    /// Notes whether the request has left.
    package var departure: Departure?
    /// Told of each step of the exchange as it happens, from any thread; it should return at once.
    public var report: (@Sendable (TransferEvent) -> Void)?

    /// Makes options; nothing is different unless said.
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

    /// These options with one more listener, which is told first.
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
    /// The options without what is secret.
    public var description: String {
        "TransferOptions(priority: \(priority), label: \(label ?? "none"), wholeTimeout: \(wholeTimeout as Duration?))"
    }
    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
