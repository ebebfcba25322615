import ServerState

extension ServerStateConformance {
    static let users: [Case] = [
        Case("The same subject at two issuers is two users (point 1)") { bench in
            let application = try await bench.application()
            let one = try await bench.user(of: application, issuer: "basic:local")
            let other = try await bench.user(of: application, issuer: "oidc:https://id.example")
            let again = try await bench.user(of: application, issuer: "basic:local")
            try require(one.id != other.id, "two users")
            try require(again, is: one, "the first one is found")
        },
        Case("Two requests that make one user at once get the same one") { bench in
            let application = try await bench.application()
            async let first = bench.user(of: application)
            async let second = bench.user(of: application)
            try require(try await first.id, is: try await second.id, "one user")
        },
        Case("A user is locked, unlocked and removed") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            try require(
                try await bench.state.registrations.setLocked(true, user: user.id).isLocked, "the user is locked")
            let changed = try await bench.state.registrations.users(
                of: application.id, after: 0, changedAfter: user.change)
            try require(changed.map(\.isLocked), is: [true], "a reader follows the change")
            try await bench.state.registrations.removeUser(user.id)
            try require(try await bench.state.registrations.user(user.id) == nil, "the user is gone")
        },
        Case("A removed user leaves no policy, activation code or counted sign-in") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let store = bench.state.registrations
            guard case .created = try await store.register(make(application, user)) else {
                throw ServerStateViolation(description: "the device is registered")
            }
            for (scope, target) in [("user", "\(user.id)"), ("registration", "R"), ("role", "sales")] {
                _ = try await store.setPolicy(
                    PolicyRecord(scope: scope, target: target, name: "lock", body: [1], version: 0), of: application.id)
            }
            let end = bench.clock.now + .seconds(60)
            try await store.addActivation(
                ActivationRecord(hash: [7], application: application.id, userName: user.subject, expiresAt: end))
            let counted = "\(application.name)/\(user.subject)"
            try await bench.state.operators.noteSignIn(of: counted, from: "1.2.3.4", hasSucceeded: true)
            try await store.removeUser(user.id)
            try require(try await store.policies(of: application.id).map(\.scope), is: ["role"], "policies")
            try require(try await store.activation([7], of: application.id) == nil, "the activation code")
            let signIns = try await bench.state.operators.signIns(of: counted, from: "1.2.3.4")
            try require(signIns, is: SignInRecord(), "counted sign-ins")
            try require(try await store.registration("R", of: application.id) == nil, "the registration")
        },
    ]

    private static func make(
        _ application: ApplicationRecord, _ user: UserRecord, id: String = "R", key: [UInt8]? = [1],
        limit: Int? = nil, activation: [UInt8]? = nil, replaces: Bool = false, settings: [SettingRecord] = []
    ) -> NewRegistration {
        NewRegistration(
            application: application.id, id: id, user: user.id, security: "basic", device: DeviceProperties(),
            publicKey: key, settings: settings, devicesPerUser: limit, activation: activation, replacesKey: replaces)
    }

    static let registrations: [Case] = [
        Case("A repeated registration returns the first one, and another user or key does not") { bench in
            let application = try await bench.application()
            let (ann, bob) = (try await bench.user(of: application), try await bench.user("bob", of: application))
            let store = bench.state.registrations
            guard case .created(let made) = try await store.register(make(application, ann)) else {
                throw ServerStateViolation(description: "a registration is made")
            }
            try require(try await store.register(make(application, ann)), is: .repeated(made), "the same again")
            try require(
                try await store.register(make(application, bob)), is: .alreadyRegistered, "another user")
            try require(
                try await store.register(make(application, ann, key: [2])), is: .alreadyRegistered, "another key")
            guard
                case .keyReplaced(let record) = try await store.register(
                    make(application, ann, key: [2], replaces: true))
            else { throw ServerStateViolation(description: "a fresh sign-in replaces the key (point 27)") }
            try require(record.publicKey, is: [2], "the new key is stored")
        },
        Case("An identifier belongs to its application (point 27)") { bench in
            let (shop, farm) = (try await bench.application(), try await bench.application("farm"))
            for application in [shop, farm] {
                let outcome = try await bench.state.registrations.register(
                    make(application, try await bench.user(of: application)))
                guard case .created = outcome else {
                    throw ServerStateViolation(description: "\(application.name) has a registration of its own")
                }
            }
        },
        Case("Two devices that register at once with one identifier: one wins") { bench in
            let application = try await bench.application()
            let (ann, bob) = (try await bench.user(of: application), try await bench.user("bob", of: application))
            async let first = bench.state.registrations.register(make(application, ann))
            async let second = bench.state.registrations.register(make(application, bob))
            let outcomes = try await [first, second]
            try require(outcomes.count { $0 == .alreadyRegistered }, is: 1, "one is refused")
        },
        Case("A user has at most the given number of registrations") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            for id in ["1", "2"] {
                guard
                    case .created = try await bench.state.registrations.register(
                        make(application, user, id: id, limit: 2))
                else { throw ServerStateViolation(description: "two are allowed") }
            }
            try require(
                try await bench.state.registrations.register(make(application, user, id: "3", limit: 2)),
                is: .tooManyDevices(limit: 2), "the third")
            try await bench.state.registrations.unregister("1", of: application.id, ifMatch: nil)
            guard
                case .created = try await bench.state.registrations.register(
                    make(application, user, id: "3", limit: 2))
            else { throw ServerStateViolation(description: "an ended one does not count") }
        },
        Case("An activation code works once, for its user, until it expires") { bench in
            let application = try await bench.application()
            let (ann, bob) = (try await bench.user(of: application), try await bench.user("bob", of: application))
            let store = bench.state.registrations
            let end = bench.clock.now + .seconds(3600)
            try await store.addActivation(
                ActivationRecord(hash: [7], application: application.id, userName: "ann", expiresAt: end))
            try require(
                try await store.register(make(application, bob, activation: [7])), is: .wrongUser, "another user")
            guard case .created = try await store.register(make(application, ann, activation: [7])) else {
                throw ServerStateViolation(description: "the code works")
            }
            try require(
                try await store.register(make(application, ann, id: "S", activation: [7])),
                is: .activationOfAnotherDevice, "the code is used up")
            bench.clock.advance(by: .seconds(3601))
            try require(
                try await store.register(make(application, ann, id: "T", activation: [7])), is: .activationInvalid,
                "the code has expired")
        },
        Case("A wipe is 204 until the device confirms its version, and 205 afterwards") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let store = bench.state.registrations
            _ = try await store.register(
                make(application, user, settings: [SettingRecord(name: "a", value: "1")]))
            let wiping = try await store.setLock(
                .wipe, confirmation: [9, 9], registration: "R", of: application.id)
            try require(wiping.state, is: .unregistering, "204")
            try require(wiping.lockConfirmation, is: [9, 9], "the confirmation is kept (point 9)")
            try require(
                try await store.confirmLock(version: 1, registration: "R", of: application.id) == nil,
                "another version confirms nothing")
            let wiped = try await store.confirmLock(
                version: wiping.lockVersion, registration: "R", of: application.id)
            try require(wiped?.state, is: .unregistered, "205")
            try require(wiped?.publicKey == nil, "the key is gone")
            try require(try await store.settings(of: "R", of: application.id), is: [], "settings are gone")
        },
        Case("A registration changes with its ETag alone, and keeps its push target") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let store = bench.state.registrations
            guard case .created(let made) = try await store.register(make(application, user)) else {
                throw ServerStateViolation(description: "a registration is made")
            }
            var device = DeviceProperties()
            device.pushKind = "apns"
            device.pushTarget = "t0ken"
            let changed = try await store.update(
                "R", of: application.id, ifMatch: made.etag, RegistrationChange(device: device))
            try require(changed.device, is: device, "the properties are stored")
            try await refused("an old ETag", with: "changed") { () async throws(ServerStateError) in
                try await store.update("R", of: application.id, ifMatch: made.etag, RegistrationChange())
            }
            try await store.noteSeen([RegistrationSeen(application: application.id, id: "R", at: bench.clock.now)])
            let seen = try await store.registrations(RegistrationFilter(application: application.id))
            try require(seen.map(\.seenAt), is: [bench.clock.now], "the device was seen")
            try require(seen.map(\.etag), is: [changed.etag], "that changes no ETag")
        },
    ]

    static let settings: [Case] = [
        Case("A call with one read-only setting writes nothing (70005)") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let store = bench.state.registrations
            _ = try await store.register(
                make(
                    application, user,
                    settings: [
                        SettingRecord(name: "fixed", value: "1", isReadOnly: true),
                        SettingRecord(name: "free", value: "1"),
                    ]))
            let changes: [SettingChange] = [
                .set(name: "free", value: "2", isReadOnly: nil), .set(name: "fixed", value: "2", isReadOnly: nil),
            ]
            try await refused("by the device", with: "setting-not-editable") { () async throws(ServerStateError) in
                try await store.changeSettings(changes, byDevice: true, registration: "R", of: application.id)
            }
            try require(
                try await store.settings(of: "R", of: application.id).map(\.value), is: ["1", "1"],
                "nothing was written")
            let version = try await store.changeSettings(
                changes, byDevice: false, registration: "R", of: application.id)
            let settings = try await store.settings(of: "R", of: application.id)
            try require(settings.map(\.value), is: ["2", "2"], "an operator may")
            try require(settings.map(\.isReadOnly), is: [true, false], "the mark stays")
            try require(
                try await store.registration("R", of: application.id)?.settingsVersion, is: version,
                "the version is new")
        },
        Case("Names, values and numbers of settings have limits") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let store = bench.state.registrations
            _ = try await store.register(make(application, user))
            let long = String(repeating: "n", count: RegistrationLimits.settingNameLength + 1)
            let large = String(repeating: "v", count: RegistrationLimits.settingValueBytes + 1)
            let many = (0...RegistrationLimits.settings).map { ("s\($0)", "v") }
            for values in [[(long, "v")], [("n", large)], many] {
                try await refused("one over", with: "limit-exceeded") { () async throws(ServerStateError) in
                    try await store.changeSettings(
                        values.map { .set(name: $0.0, value: $0.1, isReadOnly: nil) }, byDevice: true,
                        registration: "R", of: application.id)
                }
            }
            try require(try await store.settings(of: "R", of: application.id), is: [], "nothing was written")
        },
        Case("Policies and directory users are set, read and removed") { bench in
            let application = try await bench.application()
            let store = bench.state.registrations
            let policy = try await store.setPolicy(
                PolicyRecord(scope: "role", target: "sales", name: "LockPolicy", body: [1]), of: application.id)
            try require(try await store.policies(of: application.id), is: [policy], "it is stored")
            let second = try await store.setPolicy(policy, of: application.id)
            try require(second.version != policy.version, "the version differs")
            try await store.removePolicy(scope: "role", target: "sales", name: "LockPolicy", of: application.id)
            try require(try await store.policies(of: application.id), is: [], "it is gone")
            try await store.setDirectoryUser(
                DirectoryUserRecord(application: application.id, name: "ann", password: "hash", roles: ["a", "b"]))
            let user = try await store.directoryUser("ann", of: application.id)
            try require(user?.password, is: "hash", "the digest is stored")
            try require(user?.roles, is: ["a", "b"], "the roles are stored")
            try await store.removeDirectoryUser("ann", of: application.id)
            try require(try await store.directoryUsers(of: application.id), is: [], "the user is gone")
        },
    ]
}
