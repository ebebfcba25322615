import Crypto
import Foundation
import Secrets

/// Checks passwords against scrypt digests, a few at a time and outside of the threads that serve requests.
///
/// A digest is slow and needs much memory by design. At most ``maxAtOnce`` checks run at the same time, one for
/// each user, and users take turns. Of the users whose last sign-in failed, one is checked at a time, so that
/// guessing passwords never occupies all places. A password that was correct once is later recognized by a keyed
/// digest; its random key never leaves the process.
actor PasswordChecks {
    /// The maximum number of concurrent digests. The maximum memory is this number times
    /// ``PasswordHash/maximumMemory``.
    static let maxAtOnce = 2
    /// The maximum number of users whose failure is remembered.
    static let maxFailed = 10_000

    private struct Waiting {
        var user: String
        var hasFailed: Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private let hashes: [String: PasswordHash]
    private let passwords: [String: String]
    /// The digest for unknown users, so that their check takes as long as that of other users.
    private let decoy: PasswordHash?
    private let key = SymmetricKey(size: .bits256)
    private var known: [String: SymmetricKey] = [:]
    /// The users whose last sign-in failed.
    private var failed: Set<String> = []
    /// The users of the running checks, and whether their last sign-in failed.
    private var running: [String: Bool] = [:]
    private var waiting: [Waiting] = []
    private var underWay: [String: Task<Bool, Never>] = [:]

    init(_ hashes: [String: PasswordHash], _ passwords: [String: String]) {
        self.hashes = hashes
        self.passwords = passwords
        decoy = hashes.values.max { Self.cost($0) < Self.cost($1) }
    }

    private static func cost(_ hash: PasswordHash) -> Int {
        Int(hash.parameters.blockSize * hash.parameters.parallelization) << Int(hash.parameters.costExponent)
    }

    func verify(_ user: String, _ password: String) async -> Bool {
        if let right = passwords[user] { return BasicAuthentication.isEqual(Array(password.utf8), Array(right.utf8)) }
        let tag = tag(user, password)
        if let right = known[user], right == tag { return true }
        // Identical concurrent checks, as browsers cause them, run once.
        let name = tag.withUnsafeBytes { String(decoding: $0.flatMap { [$0 >> 4 + 65, $0 & 15 + 65] }, as: UTF8.self) }
        if let task = underWay[name] { return await task.value }
        let task = Task { await check(user, password) }
        underWay[name] = task
        let isRight = await task.value
        underWay[name] = nil
        if isRight {
            known[user] = tag
            failed.remove(SignInGuard.bounded(user))
        } else {
            if failed.count >= Self.maxFailed { failed.removeAll() }
            failed.insert(SignInGuard.bounded(user))
        }
        return isRight
    }

    private func check(_ user: String, _ password: String) async -> Bool {
        guard let hash = hashes[user] ?? decoy else { return false }
        await enter(user)
        let isEqual = await withCheckedContinuation { continuation in
            // A separate thread is used, because requests need the few threads of tasks.
            Thread.detachNewThread { continuation.resume(returning: (try? hash.matches(password)) ?? false) }
        }
        leave(user)
        return isEqual && hashes[user] != nil
    }

    private func enter(_ user: String) async {
        let hasFailed = failed.contains(SignInGuard.bounded(user))
        if mayRun(user, hasFailed) {
            running[user] = hasFailed
            return
        }
        await withCheckedContinuation {
            waiting.append(Waiting(user: user, hasFailed: hasFailed, continuation: $0))
        }
    }

    private func mayRun(_ user: String, _ hasFailed: Bool) -> Bool {
        running.count < Self.maxAtOnce && running[user] == nil && !(hasFailed && running.values.contains(true))
    }

    /// Passes the free places to the first waiting checks that may run.
    private func leave(_ user: String) {
        running[user] = nil
        while let next = waiting.firstIndex(where: { mayRun($0.user, $0.hasFailed) }) {
            let waiter = waiting.remove(at: next)
            running[waiter.user] = waiter.hasFailed
            waiter.continuation.resume()
        }
    }

    private func tag(_ user: String, _ password: String) -> SymmetricKey {
        var digest = HMAC<SHA256>(key: key)
        // The byte 0xFF never occurs in UTF-8, so it separates the two texts.
        digest.update(data: Array(user.utf8) + [0xFF] + Array(password.utf8))
        return SymmetricKey(data: digest.finalize())
    }
}

extension BasicAuthentication {
    /// Creates an authentication for users with scrypt digests of their passwords.
    ///
    /// The first sign-in of a user computes one digest, outside of the threads that serve requests; its cost is
    /// that of the user's hash. At most two digests are computed at a time, and one of them for users whose last
    /// sign-in failed.
    ///
    /// - Parameters:
    ///   - realm: The text in the client's password dialogue.
    ///   - hashes: The digests by user name.
    ///   - passwords: The passwords of users without a digest.
    public init(realm: String = "OData", hashes: [String: PasswordHash], passwords: [String: String] = [:]) {
        let checks = PasswordChecks(hashes, passwords)
        self.init(realm: realm) { user, password in await checks.verify(user, password) }
    }
}
