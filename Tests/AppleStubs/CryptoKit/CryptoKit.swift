// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

public protocol Digest: Sequence, Hashable, Sendable where Element == UInt8 {
    static var byteCount: Int { get }
}

public struct SHA256Digest: Digest {
    public static var byteCount: Int { 32 }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

public struct SHA256: Sendable {
    public typealias Digest = SHA256Digest
    public init() {}
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { fatalError() }
    public mutating func update<D: DataProtocol>(data: D) {}
    public func finalize() -> SHA256Digest { fatalError() }
}
