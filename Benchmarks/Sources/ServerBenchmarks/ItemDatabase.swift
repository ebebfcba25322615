import GRDB

/// The rows that are served.
enum ItemDatabase {
    static let columns = [
        "ID", "Name", "Category", "Price", "Weight", "Quantity", "Rating", "Released", "Changed", "IsActive", "Code",
        "Note",
    ]

    static func make(at path: String, rows: Int) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE Items (ID INTEGER PRIMARY KEY, Name VARCHAR(60) NOT NULL, Category VARCHAR(20) NOT NULL,
                      Price DOUBLE NOT NULL, Weight DOUBLE NOT NULL, Quantity INTEGER NOT NULL, Rating INTEGER NOT NULL,
                      Released DATE NOT NULL, Changed DATETIME NOT NULL, IsActive BOOLEAN NOT NULL,
                      Code VARCHAR(12) NOT NULL, Note VARCHAR(80))
                    """)
            let statement = try database.makeStatement(
                sql: "INSERT INTO Items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            for id in 1...rows {
                try statement.execute(arguments: [
                    id, "Item number \(id)", "Category \(id % 40)", Double(id % 10_000) / 4, Double(id % 97) / 8,
                    id % 500,
                    id % 6, "20\(10 + id % 15)-0\(1 + id % 9)-1\(id % 10)", "2026-01-0\(1 + id % 9) 10:00:0\(id % 10)",
                    id % 3 == 0, "C-\(id % 99_991)", id % 5 == 0 ? nil : "A note about \(id)",
                ])
            }
        }
        try database.close()
    }
}
