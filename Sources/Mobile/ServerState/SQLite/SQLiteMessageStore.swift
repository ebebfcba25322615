import Crypto
import Foundation
import GRDB

/// Messages and subscriptions in `state.db`.
struct SQLiteMessageStore: DeviceMessageStore {
    let state: SQLiteServerState

    private var sealing: Sealing { Sealing(state.keys) }

    /// The maximum number of bytes of the bodies in one answer.
    private static let pageBytes = 4 << 20

    // MARK: Sending

    func send(
        _ message: NewDeviceMessage, to registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> Int64? {
        guard message.body.count <= DeviceMessageLimits.size else {
            throw .limitExceeded(name: "The message", limit: DeviceMessageLimits.size)
        }
        let (now, sealing) = (state.clock(), sealing)
        let number: Int64? = try await state.stateFile.write { database in
            try Self.checkRegistration(registration, of: application, in: database)
            let digest = Data(SHA256.hash(data: message.body))
            if message.coalesces, try Self.waits(message.kind, digest, for: registration, of: application, in: database)
            {
                return nil
            }
            // Numbers of all registrations come from one counter, so that a registration that is made anew continues.
            let number = try SQLiteServerState.nextChange(of: DeviceMessageScope.changes, in: database)
            try database.execute(
                sql: """
                    insert into message_head (application, registration, head) values (?1, ?2, ?3)
                    on conflict do update set head = ?3
                    """, arguments: [application, registration, number])
            let sealed = try sealing.seal(
                message.body, table: "message", column: "sealed",
                key: Self.place(application, registration, number: number))
            try database.execute(
                sql: "insert into message values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    application, registration, number, message.kind.rawValue, digest, message.body.count, sealed,
                    now.rawValue, (now + message.lifetime).rawValue,
                ])
            try Self.dropOldest(registration, application, in: database)
            return number
        }
        if number != nil { await state.signal.send([DeviceMessageScope.topic(registration, of: application)]) }
        return number
    }

    private static func waits(
        _ kind: DeviceMessageKind, _ digest: Data, for registration: String, of application: RecordNumber,
        in database: Database
    ) throws -> Bool {
        try Int.fetchOne(
            database,
            sql: "select 1 from message where application = ? and registration = ? and kind = ? and digest = ? limit 1",
            arguments: [application, registration, kind.rawValue, digest]) != nil
    }

    /// Removes the oldest messages beyond the limit, and raises the floor to them.
    private static func dropOldest(
        _ registration: String, _ application: RecordNumber, in database: Database
    ) throws {
        let last = try Int64.fetchOne(
            database,
            sql: """
                select number from message where application = ? and registration = ?
                order by number desc limit 1 offset ?
                """, arguments: [application, registration, DeviceMessageLimits.waiting])
        guard let last else { return }
        try database.execute(
            sql: "delete from message where application = ? and registration = ? and number <= ?",
            arguments: [application, registration, last])
        try database.execute(
            sql: "update message_head set floor = max(floor, ?) where application = ? and registration = ?",
            arguments: [last, application, registration])
    }

    // MARK: Reading

    func messages(
        of registration: String, of application: RecordNumber, after number: Int64, limit: Int
    ) async throws(ServerStateError) -> [DeviceMessageRecord] {
        let (now, sealing) = (state.clock(), sealing)
        return try await state.stateFile.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    select * from message where application = ? and registration = ? and number > ? and expires_at > ?
                    order by number limit ?
                    """,
                arguments: [
                    application, registration, number, now.rawValue, min(max(limit, 1), DeviceMessageLimits.waiting),
                ])
            var (messages, bytes): ([DeviceMessageRecord], Int) = ([], 0)
            while let row = try rows.next() {
                bytes += row["size"] as Int
                if bytes > Self.pageBytes, !messages.isEmpty { break }
                let number: Int64 = row["number"]
                // A kind of a later build is one of the application.
                let kind = DeviceMessageKind(rawValue: row["kind"]) ?? .custom
                let body = try sealing.open(
                    row["sealed"], table: "message", column: "sealed",
                    key: Self.place(application, registration, number: number))
                messages.append(
                    DeviceMessageRecord(
                        number: number, kind: kind, body: body ?? [],
                        createdAt: ServerInstant(rawValue: row["created_at"])))
            }
            return messages
        }
    }

    func confirm(
        through number: Int64, registration: String, of application: RecordNumber
    ) async throws(ServerStateError) {
        try await state.stateFile.write { database in
            try database.execute(
                sql: "delete from message where application = ? and registration = ? and number <= ?",
                arguments: [application, registration, number])
        }
    }

    func head(
        of registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> DeviceMessageHead {
        let now = state.clock()
        return try await state.stateFile.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    select head, floor, (select count(*) from message m where m.application = h.application
                    and m.registration = h.registration and m.expires_at > ?) as waiting
                    from message_head h where application = ? and registration = ?
                    """, arguments: [now.rawValue, application, registration])
            guard let row else { return DeviceMessageHead() }
            return DeviceMessageHead(head: row["head"], floor: row["floor"], waiting: row["waiting"])
        }
    }

    func notices(after change: ChangeNumber, limit: Int) async throws(ServerStateError) -> [DeviceMessageNotice] {
        try await state.stateFile.read { database in
            try Row.fetchAll(
                database,
                sql: "select application, registration, head from message_head where head > ? order by head limit ?",
                arguments: [change, min(max(limit, 1), 10_000)]
            ).map {
                DeviceMessageNotice(
                    application: $0["application"], registration: $0["registration"], change: $0["head"])
            }
        }
    }

    /// Removes messages whose time is over, and raises the floors.
    ///
    /// - Returns: Whether there may be more.
    static func expire(at now: ServerInstant, limit: Int, in database: Database) throws -> Bool {
        let rows = try Row.fetchAll(
            database,
            sql: "select application, registration, number from message where expires_at < ? limit ?",
            arguments: [now.rawValue, limit])
        for row in rows {
            let key: StatementArguments = [row["application"] as Int64, row["registration"] as String]
            let number: Int64 = row["number"]
            try database.execute(
                sql: "update message_head set floor = max(floor, ?) where application = ? and registration = ?",
                arguments: StatementArguments([number]) + key)
            try database.execute(
                sql: "delete from message where application = ? and registration = ? and number = ?",
                arguments: key + StatementArguments([number]))
        }
        return rows.count >= limit
    }

    // MARK: Subscriptions

    func subscriptions(
        of registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> [DeviceSubscriptionRecord] {
        let sealing = sealing
        return try await state.stateFile.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    select * from subscription where application = ? and registration = ? order by destination, query
                    """, arguments: [application, registration]
            ).map { row in
                var record = DeviceSubscriptionRecord(
                    destination: row["destination"], query: row["query"], isSuspended: row["suspended"],
                    version: row["version"])
                record.parameters = try sealing.open(
                    row["parameters"], table: "subscription", column: "parameters",
                    key: Self.place(application, registration, query: record))
                return record
            }
        }
    }

    func setSubscription(
        _ subscription: DeviceSubscriptionRecord, registration: String, of application: RecordNumber
    ) async throws(ServerStateError) -> DeviceSubscriptionRecord {
        guard (subscription.parameters?.count ?? 0) <= DeviceMessageLimits.parameters else {
            throw .limitExceeded(name: "The parameters", limit: DeviceMessageLimits.parameters)
        }
        let sealing = sealing
        return try await state.stateFile.write { database in
            try Self.checkRegistration(registration, of: application, in: database)
            let count = try Int.fetchOne(
                database,
                sql: """
                    select count(*) from subscription where application = ? and registration = ?
                    and not (destination = ? and query = ?)
                    """, arguments: [application, registration, subscription.destination, subscription.query])
            guard (count ?? 0) < DeviceMessageLimits.subscriptions else {
                throw ServerStateError.limitExceeded(
                    name: "The number of subscriptions", limit: DeviceMessageLimits.subscriptions)
            }
            var record = subscription
            let scope = try SQLiteApplicationStore.name(of: application, in: database)
            record.version = try SQLiteServerState.nextChange(of: scope, in: database)
            let sealed = try sealing.seal(
                record.parameters, table: "subscription", column: "parameters",
                key: Self.place(application, registration, query: record))
            try database.execute(
                sql: "insert or replace into subscription values (?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    application, registration, record.destination, record.query, record.isSuspended, sealed,
                    record.version,
                ])
            return record
        }
    }

    func subscribers(
        of query: String, destination: String, of application: RecordNumber, after id: String
    ) async throws(ServerStateError) -> [String] {
        try await state.stateFile.read { database in
            try String.fetchAll(
                database,
                sql: """
                    select registration from subscription where application = ? and destination = ? and query = ?
                    and suspended = 0 and registration > ? order by registration limit 1000
                    """, arguments: [application, destination, query, id])
        }
    }

    // MARK: Keys

    private static func checkRegistration(
        _ registration: String, of application: RecordNumber, in database: Database
    ) throws {
        let known = try Int.fetchOne(
            database, sql: "select 1 from registration where application = ? and id = ? and state <> 205",
            arguments: [application, registration])
        guard known != nil else { throw ServerStateError.missing(kind: "registration", name: registration) }
    }

    private static func place(_ application: RecordNumber, _ registration: String, number: Int64) -> String {
        "\(application)/\(registration)/\(number)"
    }

    private static func place(
        _ application: RecordNumber, _ registration: String, query record: DeviceSubscriptionRecord
    ) -> String {
        "\(application)/\(registration)/\(record.destination)/\(record.query)/\(record.version)"
    }
}
