import ServerState

extension ServerStateConformance {
    static let deviceRecords: [Case] = [
        Case("Log records have numbers that do not come again, an owner and a time") { bench in
            let store = try bench.state.deviceServices().records
            func record(_ message: String, _ device: String = "R") -> DeviceLogRecord {
                DeviceLogRecord(
                    application: 7, registration: device, at: bench.clock.now, level: "error", message: message,
                    code: 409, backEndCode: "B/1", requestID: "q")
            }
            let end = bench.clock.now + .seconds(100)
            let first = try await store.add(record("a"), expiresAt: end)
            let second = try await store.add(record("b"), expiresAt: end)
            _ = try await store.add(record("c", "S"), expiresAt: end)
            try require(first.number > 0 && first.number < second.number, "numbers grow")
            try require(try await store.logs(of: "R", of: 7), is: [first, second], "oldest first")
            try require(try await store.logs(of: nil, of: 7).count, is: 3, "of all devices")
            try require(try await store.removeLog(second.number, registration: "S", of: 7) == false, "of another one")
            try require(try await store.removeLog(second.number, registration: "R", of: 7), "it is removed")
            let third = try await store.add(record("d"), expiresAt: end)
            try require(third.number > second.number, "a number does not come again (point 15)")
            let long = try await store.add(
                record(String(repeating: "x", count: DeviceRecordLimits.text + 1)), expiresAt: end)
            try require(long.message.count, is: DeviceRecordLimits.text, "a long text is cut")
            bench.clock.advance(by: .seconds(101))
            try require(try await store.logs(of: "R", of: 7), is: [], "their time is over")
            while try await bench.state.expire(RetentionAges()) {}
        },
        Case("The oldest log records of a device go beyond the limit") { bench in
            let store = try bench.state.deviceServices().records
            for index in 0...DeviceRecordLimits.logs {
                _ = try await store.add(
                    DeviceLogRecord(
                        application: 7, registration: "R", at: bench.clock.now, level: "info", message: "\(index)"),
                    expiresAt: bench.clock.now + .seconds(100))
            }
            let all = try await store.logs(of: "R", of: 7)
            try require(all.count == DeviceRecordLimits.logs && all[0].message == "1", "the oldest is gone")
        },
        Case("Personalization values belong to a user and go with the user") { bench in
            let store = try bench.state.deviceServices().records
            let application = try await bench.application()
            let user = try await bench.user(of: application)
            let made = try await store.setPersonalization("Territory", "north", of: user.id, of: application.id)
            let changed = try await store.setPersonalization("Territory", "south", of: user.id, of: application.id)
            try require(made.version != changed.version, "a change has a version")
            try require(
                try await store.personalization(of: user.id, of: application.id), is: [changed], "one value of a key")
            _ = try await store.setPersonalization("Territory", nil, of: user.id, of: application.id)
            try require(try await store.personalization(of: user.id, of: application.id), is: [], "it is removed")
            for index in 0..<DeviceRecordLimits.values {
                _ = try await store.setPersonalization("\(index)", "", of: user.id, of: application.id)
            }
            try await refused("one more", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.setPersonalization("more", "", of: user.id, of: application.id)
            }
            _ = try await store.setPersonalization("1", "again", of: user.id, of: application.id)
            try await refused("a long value", with: "limit-exceeded") { () async throws(ServerStateError) in
                try await store.setPersonalization(
                    "1", String(repeating: "x", count: DeviceRecordLimits.value + 1), of: user.id, of: application.id)
            }
            try await bench.state.registrations.removeUser(user.id)
            try require(try await store.personalization(of: user.id, of: application.id), is: [], "they are gone")
            try await refused("an unknown user", with: "missing") { () async throws(ServerStateError) in
                try await store.setPersonalization("1", "x", of: user.id, of: application.id)
            }
        },
    ]
}
