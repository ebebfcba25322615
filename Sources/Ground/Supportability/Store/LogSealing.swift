/// The encryption of a stored log: two functions of the caller, because this library contains no cipher.
///
/// ```swift
/// let cipher = RecordCipher(key: key, purpose: "log")            // of the library Secrets
/// let sealing = LogSealing(seal: { try cipher.seal($0) }, open: { try cipher.open($0) })
/// let log = try StoredLog(folder: folder, sealing: sealing)
/// ```
public struct LogSealing: Sendable {
    let seal: @Sendable ([UInt8]) throws -> [UInt8]
    let open: @Sendable ([UInt8]) throws -> [UInt8]

    /// Creates a sealing.
    ///
    /// - Parameters:
    ///   - seal: A function that encrypts and authenticates a record.
    ///   - open: A function that decrypts a sealed record; throws for any other input.
    public init(
        seal: @escaping @Sendable ([UInt8]) throws -> [UInt8], open: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        self.seal = seal
        self.open = open
    }
}
