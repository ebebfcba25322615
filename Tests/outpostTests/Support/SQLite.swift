import GRDB

/// Another program that works on the served database and waits its turn.
enum SQLite {
    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func execute(_ sql: String, in path: String) throws {
        try open(path).write { try $0.execute(sql: sql) }
    }

    static func integer(_ sql: String, in path: String) throws -> Int {
        try open(path).read { try Int.fetchOne($0, sql: sql) ?? -1 }
    }

    static func text(_ sql: String, in path: String) throws -> String? {
        try open(path).read { try String.fetchOne($0, sql: sql) }
    }
}
