// Device proofs (RFC 9449): any text is refused, or is a proof within the limits. The comparison of URLs is symmetric.
// Each input is also signed with a known key, so that the reader of claims is reached.
import Crypto
import Foundation
import ODataModel

private let key = P256.Signing.PrivateKey()
private let header: String = {
    let (x, y) = DeviceKey(key.publicKey).coordinates
    let text = #"{"typ":"dpop+jwt","alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}}"#
    return Base64URL.encode(Array(text.utf8))
}()

private func check(_ text: String) {
    guard let proof = try? DeviceProof(text) else { return }
    promise(text.utf8.count <= DeviceProof.maxLength, "a long proof was read")
    promise((1...DeviceProof.maxIDLength).contains(proof.id.utf8.count), "an id without limits")
    promise(DeviceKey(bytes: proof.key.bytes) == proof.key, "a key that is not read again")
    let scheme = proof.url.prefix(8).lowercased()
    promise(
        !ProofCheck.isSame(proof.url, proof.url) || scheme == "https://" || scheme.hasPrefix("http://"),
        "a URL of another scheme")
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    check(text)
    let payload = Base64URL.encode(bytes)
    let signed = "\(header).\(payload)"
    if let signature = try? key.signature(for: Array(signed.utf8)) {
        check("\(signed).\(Base64URL.encode(Array(signature.rawRepresentation)))")
    }
    let nonces = ProofNonces(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
    promise(nonces.age(of: text, at: 1000) == nil || nonces.age(of: text, at: 1000) == 0, "a nonce of nobody")
    let halves = text.split(separator: "\n", maxSplits: 1).map(String.init)
    if halves.count == 2 {
        promise(
            ProofCheck.isSame(halves[0], halves[1]) == ProofCheck.isSame(halves[1], halves[0]), "an order of URLs")
    }
    return 0
}
