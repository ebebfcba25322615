/// The trace of a request, as W3C Trace Context writes it into `traceparent`.
///
/// An app that has bootstrapped a tracer of swift-distributed-tracing does not need this type, because the
/// tracer writes the fields. Otherwise the client begins a trace for each request, or continues ``current``.
///
/// ```swift
/// try await TraceContext.$current.withValue(TraceContext()) {
///     try await service.update(order)    // one trace for both
///     try await service.update(item)
/// }
/// ```
public struct TraceContext: Sendable, Hashable, CustomStringConvertible {
    /// The id of the trace: 16 bytes, not all zero.
    public let traceID: [UInt8]
    /// The id of the parent span: 8 bytes, not all zero.
    public let parentID: [UInt8]
    /// Whether the creator of the trace records it.
    public let isSampled: Bool

    /// The trace of all requests of the current task; `nil` begins a new one for each request.
    @TaskLocal public static var current: TraceContext?

    /// Begins a trace with random ids.
    public init(isSampled: Bool = true) {
        traceID = Self.random(16)
        parentID = Self.random(8)
        self.isSampled = isSampled
    }

    private init(traceID: [UInt8], parentID: [UInt8], isSampled: Bool) {
        self.traceID = traceID
        self.parentID = parentID
        self.isSampled = isSampled
    }

    /// Parses a `traceparent` field (Trace Context, 3.2).
    ///
    /// - Returns: `nil` if the text is malformed, contains only zeros as an id, or has the forbidden version
    ///   `ff`.
    public init?(traceparent text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff", let version = Self.bytes(parts[0], 1),
            let trace = Self.bytes(parts[1], 16), let parent = Self.bytes(parts[2], 8),
            let flags = Self.bytes(parts[3], 1), version != [0] || parts.count == 4,
            trace.contains(where: { $0 != 0 }), parent.contains(where: { $0 != 0 })
        else { return nil }
        self.init(traceID: trace, parentID: parent, isSampled: flags[0] & 1 == 1)
    }

    /// Returns the same trace with a new parent id.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, parentID: Self.random(8), isSampled: isSampled)
    }

    /// The value of the field `traceparent`.
    public var traceparent: String {
        "00-\(Self.hexadecimal(traceID))-\(Self.hexadecimal(parentID))-\(isSampled ? "01" : "00")"
    }

    /// The value of the field `traceparent`.
    public var description: String { traceparent }

    private static func random(_ count: Int) -> [UInt8] {
        var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
        // An id of only zeros is invalid.
        if bytes.allSatisfy({ $0 == 0 }) { bytes[0] = 1 }
        return bytes
    }

    private static func bytes(_ text: Substring, _ count: Int) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == count * 2 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns the value of a hexadecimal digit. Upper case is not allowed.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// Returns the lower-case hexadecimal form of an id.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
