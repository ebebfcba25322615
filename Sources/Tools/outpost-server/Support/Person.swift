import MobileServer
import ServerState
import ToolLanguage

/// The rows of one person in an application.
struct Person {
    /// The rows of sign-ins.
    var users: [UserRecord]
    /// The name in the server's directory; `nil` if the person is not there.
    var directory: String?

    var isUnknown: Bool { users.isEmpty && directory == nil }
}

extension OpenServer {
    /// Returns all users of an application.
    func users(of application: ApplicationRecord) async throws -> [UserRecord] {
        var users: [UserRecord] = []
        while true {
            let page = try await state.registrations.users(of: application.id, after: users.last?.id ?? 0)
            users += page
            if page.count < 1000 { return users }
        }
    }

    /// Returns the only user with a name, subject or number.
    func user(_ name: String, of application: ApplicationRecord) async throws -> UserRecord {
        guard let user = try await person(name, of: application).users.first else {
            throw unknown(name, of: application)
        }
        return user
    }

    /// Returns the rows of the person with a subject; else with a name; else with a number.
    ///
    /// - Throws: ``ServerFailure`` if several persons may be meant: a subject is unique at its issuer only.
    func person(_ name: String, of application: ApplicationRecord) async throws -> Person {
        let all = try await users(of: application)
        let directory = try await state.registrations.directoryUser(name, of: application.id)?.name
        var found = all.filter { $0.subject == name }
        if found.isEmpty, directory == nil { found = all.filter { $0.name == name } }
        if found.isEmpty, directory == nil { found = all.filter { "\($0.id)" == name } }
        // A directory user has signed in as a user of the kind basic.
        let others = directory == nil ? found : found.filter { !$0.issuer.hasPrefix("basic:") }
        guard found.count <= 1, directory == nil || others.isEmpty else {
            let numbers = found.map { "\($0.id) (\($0.issuer))" }.joined(separator: ", ")
            throw ServerFailure(
                "'\(application.name)' has several users '\(name)'.", advice: "Name one by its number: \(numbers).")
        }
        guard directory == nil, let user = found.first, user.issuer.hasPrefix("basic:") else {
            return Person(users: found, directory: directory)
        }
        let own = try await state.registrations.directoryUser(user.subject, of: application.id)?.name
        return Person(users: found, directory: own)
    }

    /// Returns the error for a name that nobody has.
    func unknown(_ name: String, of application: ApplicationRecord) -> ServerFailure {
        ServerFailure(
            "'\(application.name)' has no user '\(name)'.",
            advice: "List the users with 'outpost-server user list \(application.name)'.")
    }

    /// Removes the rows of a person.
    func remove(
        _ person: Person, of application: ApplicationRecord
    ) async throws -> (users: Int, directory: Int, registrations: Int) {
        var devices = 0
        for user in person.users {
            devices += try await registrations(of: user).count
            try await state.registrations.removeUser(user.id)
        }
        guard let name = person.directory else { return (person.users.count, 0, devices) }
        try await state.registrations.removeDirectoryUser(name, of: application.id)
        return (person.users.count, 1, devices)
    }

    func registrations(of user: UserRecord) async throws -> [RegistrationRecord] {
        var devices: [RegistrationRecord] = []
        while true {
            let page = try await state.registrations.registrations(
                RegistrationFilter(application: user.application, user: user.id, after: devices.last?.id))
            devices += page
            if page.count < 1000 { return devices }
        }
    }

    // MARK: Erasure

    /// Forgets the repeatable requests of a person. Stored responses may contain personal data.
    func forgetRequests(of person: Person, in application: ApplicationRecord) async throws -> Int {
        var destinations: Set<String> = []
        for version in try await state.applications.configurations(of: application.id) {
            // A version that this build cannot read was never active in this build.
            let configuration = try? ApplicationConfiguration(canonicalJSON: version.body)
            destinations.formUnion(configuration?.destinations.keys.map { $0 } ?? [])
        }
        var owners: [[UInt8]] = []
        for user in person.users {
            let devices = try await registrations(of: user).map(\.id)
            for destination in destinations.sorted() {
                owners.append(
                    RepeatableRequestOwner.digest(
                        application: application.name, destination: destination, registration: nil, user: user))
                owners += devices.map {
                    RepeatableRequestOwner.digest(
                        application: application.name, destination: destination, registration: $0, user: user)
                }
            }
        }
        return try await state.replays.forget(owners: owners)
    }

    /// Replaces the names of a person in the audit.
    ///
    /// - Returns: The pseudonym, and the number of changed entries.
    func replaceInAudit(
        _ person: Person, _ name: String, of application: ApplicationRecord
    ) async throws -> (pseudonym: String, entries: Int) {
        let subject = person.users.first?.subject ?? person.directory ?? name
        let pseudonym = "p-" + keys.cipher(.audit).pseudonym(of: "\(application.name)/\(subject)").prefix(16)
        var names = Set([name, subject] + person.users.map(\.name))
        if let directory = person.directory { names.insert(directory) }
        var entries = 0
        for name in names.sorted() where name != "anonymous" {
            entries += try await state.operators.replaceInAudit(
                "\(application.name)/\(name)", by: "\(application.name)/\(pseudonym)")
        }
        return (pseudonym, entries)
    }
}
