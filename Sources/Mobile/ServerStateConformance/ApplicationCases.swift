import ServerState

extension ServerStateConformance {
    static let numbers: [Case] = [
        Case("Change numbers grow, and hold the incarnation") { bench in
            let first = try await bench.application("a")
            let second = try await bench.application("b")
            let incarnation = try await bench.state.incarnation()
            try require(first.change < second.change, "numbers grow")
            try require(first.change >> 32, is: incarnation.number, "a number holds the incarnation")
            try require(
                try await bench.state.head(of: ChangeNumberScope.server), is: second.change, "the head is the last one")
        },
        Case("A new incarnation has a higher number, and numbers begin anew above all old ones") { bench in
            let before = try await bench.application("a")
            let old = try await bench.state.incarnation()
            bench.clock.advance(by: .seconds(1))
            let new = try await bench.state.beginIncarnation()
            try require(new.number > old.number && new.number < 1 << 31, "31 bits above the old number")
            try require(new.beganAt, is: bench.clock.now, "it begins by the database's clock")
            let after = try await bench.application("b")
            try require(after.change > before.change && after.change >> 32 == new.number, "numbers are above all old")
            try require(
                try await bench.state.removedRows(of: ChangeNumberScope.server, after: before.change) == nil,
                "a reader of the old incarnation reloads")
        },
        Case("A removal is listed once, and its dependants are not") { bench in
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let outcome = try await bench.state.registrations.register(
                NewRegistration(
                    application: application.id, id: "R", user: user.id, security: "basic", device: DeviceProperties(),
                    settings: [SettingRecord(name: "a", value: "1")]))
            guard case .created = outcome else { throw ServerStateViolation(description: "a registration is made") }
            let head = try await bench.state.head(of: "shop")
            try await bench.state.registrations.removeUser(user.id)
            let removed = try unwrap(
                try await bench.state.removedRows(of: "shop", after: head), "the list reaches back that far")
            try require(removed.map(\.table), is: ["app_user"], "one entry for the user (point 28)")
            try require(
                try await bench.state.registrations.registration("R", of: application.id) == nil,
                "the registration went with its user")
            bench.clock.advance(by: .seconds(2 * 86_400))
            _ = try await bench.state.expire(RetentionAges())
            try require(
                try await bench.state.removedRows(of: "shop", after: head) == nil,
                "after a day, a reader that is behind reloads")
        },
        Case("Writes of many tasks get different numbers") { bench in
            let application = try await bench.application()
            let numbers = try await withThrowingTaskGroup(of: ChangeNumber.self) { group in
                for index in 0..<20 {
                    group.addTask { try await bench.user("u\(index)", of: application).change }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try require(Set(numbers).count, is: 20, "no number is given twice")
        },
    ]

    static let applications: [Case] = [
        Case("An application is added, found, changed with its ETag and removed") { bench in
            let added = try await bench.application()
            try await refused("a second one of the name", with: "already-exists") { () async throws(ServerStateError) in
                try await bench.state.applications.add(
                    named: "shop", title: "", domain: "default", state: .active)
            }
            let changed = try await bench.state.applications.update(
                "shop", ifMatch: added.etag, ApplicationChange(title: "Shop", state: .suspended))
            try require(changed.title == "Shop" && changed.state == .suspended, "values change")
            try require(changed.domain, is: "default", "other values stay")
            try await refused("an old ETag", with: "changed") { () async throws(ServerStateError) in
                try await bench.state.applications.update("shop", ifMatch: added.etag, ApplicationChange())
            }
            try await bench.state.applications.remove("shop", ifMatch: changed.etag)
            try require(try await bench.state.applications.all(), is: [], "it is gone")
            let again = try await bench.application()
            try require(again.id > added.id, "a number is not given again (point 15)")
        },
        Case("Configurations have versions, and one is active") { bench in
            let application = try await bench.application()
            let store = bench.state.applications
            let first = try await store.addConfiguration([1], to: application.id, by: "file")
            let same = try await store.addConfiguration([1], to: application.id, by: "ann")
            try require(same, is: first, "an equal body is the same version")
            let second = try await store.addConfiguration([2], to: application.id, by: "ann")
            try require(second.version, is: 2, "versions count")
            _ = try await store.activate(1, of: application.id, ifActive: 0)
            let record = try await store.activate(2, of: application.id, ifActive: 1)
            try require(record.activeVersion, is: 2, "the second is active")
            try require(
                try await store.configurations(of: application.id).map(\.state), is: [.active, .retired],
                "the first was active")
            try await refused("another active version is expected", with: "changed") {
                () async throws(ServerStateError) in
                try await store.activate(1, of: application.id, ifActive: 1)
            }
            try await refused("an unknown version", with: "missing") { () async throws(ServerStateError) in
                try await store.activate(9, of: application.id, ifActive: nil)
            }
        },
    ]
}
