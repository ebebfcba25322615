package import Secrets

/// The pages of a database including its committed log frames, read without SQLite, so that intact pages of a
/// damaged file remain readable.
///
/// `@unchecked Sendable`: the closure holds a file and a log reader. Salvage creates the value, passes it to
/// one task and waits for that task, so two threads never read at once.
package struct DatabasePages: @unchecked Sendable {
    /// The number of pages, including unreadable ones.
    package let count: Int
    /// The number of bytes of each page that SQLite uses.
    package let usableSize: Int
    private let read: (Int) -> [UInt8]?

    init(count: Int, usableSize: Int, read: @escaping (Int) -> [UInt8]?) {
        self.count = count
        self.usableSize = usableSize
        self.read = read
    }

    /// Returns a page as SQLite wrote it.
    ///
    /// - Parameter number: The page number, from 1.
    /// - Returns: `nil` if the page is missing or does not open.
    package func page(_ number: Int) -> [UInt8]? { number >= 1 && number <= count ? read(number) : nil }
}

extension ExclusiveDatabase {
    /// Returns the pages of the database, which are readable as long as this object exists.
    ///
    /// - Parameter source: The key or passphrase; `nil` for a plain database, whose log is ignored.
    /// - Throws: ``EncryptedDatabaseError``: the errors of
    ///   ``EncryptedDatabase/unlock(at:with:upgradesFormat:)``.
    package func pages(openedWith source: KeySource?) throws(EncryptedDatabaseError) -> DatabasePages {
        guard let source else { return try plainPages() }
        let content = try content(openedWith: source)
        return DatabasePages(
            count: max(try content.filePageCount(), content.lastPageInLog),
            usableSize: FileFormat.pageSize - FileFormat.reservedSize
        ) { try? content.page($0) }
    }
}
