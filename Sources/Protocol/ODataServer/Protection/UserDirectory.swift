import Secrets
import Synchronization

/// The users of a service with their passwords, which can be replaced while the service runs.
///
/// ```swift
/// let users = UserDirectory(hashes: hashes)
/// configuration.authentication = [BasicAuthentication(users: users)]
/// …
/// users.replace(hashes: newHashes)
/// ```
public final class UserDirectory: Sendable {
    private let current: Mutex<PasswordChecks>

    /// Creates a directory.
    ///
    /// - Parameters:
    ///   - hashes: The scrypt digests by user name.
    ///   - passwords: The passwords of users without a digest.
    public init(hashes: [String: PasswordHash], passwords: [String: String] = [:]) {
        current = Mutex(PasswordChecks(hashes, passwords))
    }

    /// Replaces all users. Former passwords and removed users are refused from the next request on.
    ///
    /// - Parameters:
    ///   - hashes: The scrypt digests by user name.
    ///   - passwords: The passwords of users without a digest.
    public func replace(hashes: [String: PasswordHash], passwords: [String: String] = [:]) {
        let checks = PasswordChecks(hashes, passwords)
        current.withLock { $0 = checks }
    }

    func verify(_ user: String, _ password: String) async -> Bool {
        await current.withLock { $0 }.verify(user, password)
    }
}

extension BasicAuthentication {
    /// Creates an authentication for users that can be replaced while the service runs.
    ///
    /// - Parameters:
    ///   - realm: The text in the client's password dialogue.
    ///   - users: The users.
    public init(realm: String = "OData", users: UserDirectory) {
        self.init(realm: realm) { user, password in await users.verify(user, password) }
    }
}
