package import Secrets

/// The pages of a database with what is committed in its log, read without SQLite, for whoever knows how to read them: whatever of
/// them is damaged, the rest is there.
///
/// `@unchecked Sendable`: the closure keeps a file and a log reader. Salvage makes the value, hands it to one task and waits for that
/// task, so no two threads read at once.
package struct DatabasePages: @unchecked Sendable {
    /// How many pages there are, those that cannot be read included.
    package let count: Int
    /// How many bytes of each page SQLite uses.
    package let usableSize: Int
    private let read: (Int) -> [UInt8]?

    init(count: Int, usableSize: Int, read: @escaping (Int) -> [UInt8]?) {
        self.count = count
        self.usableSize = usableSize
        self.read = read
    }

    /// A page as SQLite wrote it.
    ///
    /// - Parameter number: Its number, from 1.
    /// - Returns: Nil if it is not there or does not open.
    package func page(_ number: Int) -> [UInt8]? { number >= 1 && number <= count ? read(number) : nil }
}

extension ExclusiveDatabase {
    /// The pages of the database; they can be read as long as this is there.
    ///
    /// - Parameter source: The key or passphrase; nil for a plain database, whose log is not looked at.
    /// - Throws: ``EncryptedDatabaseError``: what ``EncryptedDatabase/unlock(at:with:upgradesFormat:)`` throws.
    package func pages(openedWith source: KeySource?) throws(EncryptedDatabaseError) -> DatabasePages {
        guard let source else { return try plainPages() }
        let content = try content(openedWith: source)
        return DatabasePages(
            count: max(try content.filePageCount(), content.lastPageInLog),
            usableSize: FileFormat.pageSize - FileFormat.reservedSize
        ) { try? content.page($0) }
    }
}
