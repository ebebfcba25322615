/// The cost of deriving a key from a passphrase with scrypt (RFC 7914).
///
/// The parameters are stored beside the data that the derived key protects, so the standard cost can be raised
/// later without locking anyone out. Parameters from a file are checked against the limits below before any
/// memory is allocated. The tag of the sealed data covers them, so alterations are detected. Until then, a
/// forged header costs at most ``maximumMemory`` and ``maximumWork``.
public struct ScryptParameters: Hashable, Sendable {
    /// The binary logarithm of the cost N.
    public let costExponent: UInt8
    /// The block size r.
    public let blockSize: UInt32
    /// The parallelization p.
    public let parallelization: UInt32

    /// The range of ``costExponent``.
    public static let costExponents: ClosedRange<UInt8> = 10...20
    /// The range of ``blockSize``.
    public static let blockSizes: ClosedRange<UInt32> = 1...32
    /// The range of ``parallelization``.
    public static let parallelizations: ClosedRange<UInt32> = 1...16
    /// The maximum working memory, 128·N·r, in bytes (256 MiB).
    public static let maximumMemory = 256 << 20
    /// The maximum work, N·r·p: less than three times that of ``standard``, about one and a half seconds.
    public static let maximumWork = 1 << 21

    /// The parameters that OWASP recommends: N = 2^15, r = 8, p = 3, which takes 32 MiB of memory and about half a
    /// second.
    public static let standard = ScryptParameters(unchecked: 15, 8, 3)

    private init(unchecked costExponent: UInt8, _ blockSize: UInt32, _ parallelization: UInt32) {
        self.costExponent = costExponent
        self.blockSize = blockSize
        self.parallelization = parallelization
    }

    /// Creates parameters.
    ///
    /// - Parameters:
    ///   - costExponent: The binary logarithm of N, 10 to 20.
    ///   - blockSize: r, 1 to 32.
    ///   - parallelization: p, 1 to 16.
    /// - Throws: ``SecretError/derivationParameters(_:)`` if a value is out of range, or if the values together
    ///   exceed ``maximumMemory`` or ``maximumWork``.
    public init(costExponent: UInt8, blockSize: UInt32, parallelization: UInt32) throws(SecretError) {
        self.init(unchecked: costExponent, blockSize, parallelization)
        guard Self.costExponents.contains(costExponent), Self.blockSizes.contains(blockSize),
            Self.parallelizations.contains(parallelization),
            128 * Int(blockSize) << Int(costExponent) <= Self.maximumMemory,
            Int(blockSize) * Int(parallelization) << Int(costExponent) <= Self.maximumWork
        else {
            throw SecretError.derivationParameters(self)
        }
    }
}
