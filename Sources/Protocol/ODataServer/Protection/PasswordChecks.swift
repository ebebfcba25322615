import Crypto
import Foundation
import Secrets

/// Checks passwords against scrypt digests, few at a time and beside the threads that serve.
///
/// A digest is slow and takes memory on purpose. So ``maxAtOnce`` run at the same time, one for a user, and the users take
/// turns: who guesses the password of one user keeps nobody else waiting for longer than a check. A password that was right
/// once is recognised afterwards by a keyed digest, whose key is random and never leaves the process.
actor PasswordChecks {
    /// How many digests are made at the same time: with ``PasswordHash/maximumMemory`` the most memory that they take.
    static let maxAtOnce = 2

    private struct Waiting {
        var user: String
        var continuation: CheckedContinuation<Void, Never>
    }

    private let hashes: [String: PasswordHash]
    private let passwords: [String: String]
    /// What the password of a user who does not exist is compared with: it takes as long as that of another user.
    private let decoy: PasswordHash?
    private let key = SymmetricKey(size: .bits256)
    private var known: [String: SymmetricKey] = [:]
    private var running: Set<String> = []
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

    /// Whether a password is that of a user.
    func verify(_ user: String, _ password: String) async -> Bool {
        if let right = passwords[user] { return BasicAuthentication.isEqual(Array(password.utf8), Array(right.utf8)) }
        let tag = tag(user, password)
        if let right = known[user], right == tag { return true }
        // The same password that is sent several times at once, as browsers do, is checked once.
        let name = tag.withUnsafeBytes { String(decoding: $0.flatMap { [$0 >> 4 + 65, $0 & 15 + 65] }, as: UTF8.self) }
        if let task = underWay[name] { return await task.value }
        let task = Task { await check(user, password) }
        underWay[name] = task
        let isRight = await task.value
        underWay[name] = nil
        if isRight { known[user] = tag }
        return isRight
    }

    private func check(_ user: String, _ password: String) async -> Bool {
        guard let hash = hashes[user] ?? decoy else { return false }
        await enter(user)
        let isEqual = await withCheckedContinuation { continuation in
            // A thread of its own: those of tasks are as many as processors, and requests need them.
            Thread.detachNewThread { continuation.resume(returning: (try? hash.matches(password)) ?? false) }
        }
        leave(user)
        return isEqual && hashes[user] != nil
    }

    private func enter(_ user: String) async {
        if running.count < Self.maxAtOnce, running.insert(user).inserted { return }
        await withCheckedContinuation { waiting.append(Waiting(user: user, continuation: $0)) }
    }

    /// Hands the place on to the first who waits and of whose user no other check runs.
    private func leave(_ user: String) {
        running.remove(user)
        guard let next = waiting.firstIndex(where: { !running.contains($0.user) }) else { return }
        let waiter = waiting.remove(at: next)
        running.insert(waiter.user)
        waiter.continuation.resume()
    }

    private func tag(_ user: String, _ password: String) -> SymmetricKey {
        var digest = HMAC<SHA256>(key: key)
        // A byte that no UTF-8 has keeps the two apart.
        digest.update(data: Array(user.utf8) + [0xFF] + Array(password.utf8))
        return SymmetricKey(data: digest.finalize())
    }
}

extension BasicAuthentication {
    /// Authentication of users whose passwords are kept as scrypt digests.
    ///
    /// The first sign-in of a user costs one digest, which is made beside the threads that serve; at most
    /// two are made at a time.
    ///
    /// - Parameters:
    ///   - realm: what the client's password dialogue shows.
    ///   - hashes: the digests by the names of their users.
    ///   - passwords: the passwords of users whose digests nobody has made.
    public init(realm: String = "OData", hashes: [String: PasswordHash], passwords: [String: String] = [:]) {
        let checks = PasswordChecks(hashes, passwords)
        self.init(realm: realm) { user, password in await checks.verify(user, password) }
    }
}
