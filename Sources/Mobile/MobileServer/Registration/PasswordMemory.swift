import Crypto
import Foundation
import Secrets

/// Checks passwords against scrypt digests, and recognizes a password that was right a short time ago.
///
/// A digest is slow by design. At most ``maxAtOnce`` are computed at a time, outside of the threads of tasks. A right
/// password is kept as a MAC under a key that never leaves the process, together with its digest: a new password in the
/// directory makes the old one wrong at once.
actor PasswordMemory {
    static let maxAtOnce = 2
    private static let maxKnown = 10_000

    private let key = SymmetricKey(size: .bits256)
    private var known: Set<[UInt8]> = []
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Returns whether a password belongs to a digest.
    ///
    /// - Parameter digest: The digest as text; `nil` for an unknown user. The check takes as long as with a digest.
    func matches(_ password: String, _ digest: String?) async -> Bool {
        let tag = tag(password, digest ?? "")
        if digest != nil, known.contains(tag) { return true }
        await enter()
        defer { leave() }
        let text = digest ?? Self.decoy
        let isRight = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let hash = try? PasswordHash(text)
                continuation.resume(returning: (try? hash?.matches(password)) ?? false)
            }
        }
        guard isRight, digest != nil else { return false }
        if known.count >= Self.maxKnown { known.removeAll() }
        known.insert(tag)
        return true
    }

    /// A digest of the standard cost that no password has.
    private static let decoy =
        "$scrypt$ln=15,r=8,p=3$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    private func tag(_ password: String, _ digest: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        // The byte 0xFF never occurs in UTF-8, so it separates the two texts.
        code.update(data: Array(digest.utf8) + [0xFF] + Array(password.utf8))
        return Array(code.finalize())
    }

    private func enter() async {
        if running < Self.maxAtOnce {
            running += 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() }
    }
}
