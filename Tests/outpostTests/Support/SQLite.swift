import GRDB

/// Another program that works on the served database.
enum SQLite {
    static func execute(_ sql: String, in path: String) throws {
        try DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
    }

    static func integer(_ sql: String, in path: String) throws -> Int {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: sql) ?? -1 }
    }

    static func text(_ sql: String, in path: String) throws -> String? {
        try DatabaseQueue(path: path).read { try String.fetchOne($0, sql: sql) }
    }
}
