import CAESGCM
import Crypto

/// HMAC-SHA256 with one key.
///
/// If `CAESGCM` provides a native implementation, computing a code allocates nothing. Otherwise the HMAC state
/// of swift-crypto or CryptoKit is copied. Both produce the same bytes. Like ``PageSealer``, an instance does
/// not change after its creation, but belongs to one open file.
final class KeyedCode {
    /// The state of the code after its key and before any input.
    private enum Keyed {
        case native(OpaquePointer)
        case portable(HMAC<SHA256>)
    }

    private let keyed: Keyed

    /// - Parameters:
    ///   - key: A key of 256 bits.
    ///   - keepsState: Whether to use the native code if available; a test compares both implementations.
    init(key: SymmetricKey, keepsState: Bool = true) {
        let state = keepsState ? key.withUnsafeBytes { outpost_mac_new($0.baseAddress) } : nil
        keyed = state.map(Keyed.native) ?? .portable(HMAC(key: key))
    }

    deinit {
        if case .native(let state) = keyed { outpost_mac_free(state) }
    }

    /// Passes the 32 bytes of the code of `input` to `body`.
    func code<Result>(of input: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch keyed {
        case .native(let state):
            return withUnsafeTemporaryAllocation(byteCount: SHA256.byteCount, alignment: 8) { target in
                outpost_mac_code(state, target.baseAddress, input.baseAddress, input.count)
                return body(UnsafeRawBufferPointer(target))
            }
        case .portable(var code):
            code.update(data: input)
            return code.finalize().withUnsafeBytes(body)
        }
    }
}
