/// The pages of a database including its committed log frames, read without SQLite, so that intact pages of a
/// damaged file remain readable.
struct CommittedContent {
    private let file: KeyBlockFile
    private let cipher: PageCipher
    private let log: LogReader?
    private let frames: [Int: Int]
    private let sealer: PageSealer
    private let nonces: NonceSource

    init(file: KeyBlockFile, cipher: PageCipher, log: LogReader?) {
        self.file = file
        self.cipher = cipher
        self.log = log
        frames = log?.committedFrames ?? [:]
        sealer = cipher.sealer(for: .main)
        nonces = cipher.nonces(LockEpoch())
    }

    /// The highest page number in the log; 0 without a log.
    var lastPageInLog: Int { frames.keys.max() ?? 0 }

    func isInLog(_ number: Int) -> Bool { frames[number] != nil }

    /// Returns the number of pages in the file, including a truncated one.
    func filePageCount() throws(EncryptedDatabaseError) -> Int {
        let bytes = try file.size() - Int64(FileFormat.keyBlockSize)
        return max(0, Int((bytes + Int64(FileFormat.pageSize) - 1) / Int64(FileFormat.pageSize)))
    }

    /// Returns the page count in the first page, or `nil` if that page does not open or has no valid count.
    func statedPageCount() throws(EncryptedDatabaseError) -> Int? {
        guard let page = try page(1) else { return nil }
        func integer(at offset: Int) -> Int { page[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        // SQLite's file format, 1.3.7: the size is valid only if its version number equals the change counter.
        return integer(at: 24) == integer(at: 92) && integer(at: 28) > 0 ? integer(at: 28) : nil
    }

    /// Returns a page as SQLite wrote it, with its reserved bytes, or `nil` if it does not open.
    func page(_ number: Int) throws(EncryptedDatabaseError) -> [UInt8]? {
        if let frame = frames[number] { return log?.page(inFrameAt: frame) }
        let sealed = try sealedPage(number)
        let place = PageCipher.Place.main(Int64(number - 1) * Int64(FileFormat.pageSize))
        var page = [UInt8](repeating: 0, count: FileFormat.pageSize)
        let isOpen = page.withUnsafeMutableBytes { target in
            sealed.withUnsafeBytes { sealed in
                guard let target = target.baseAddress, let sealed = sealed.baseAddress else { return false }
                return cipher.withAssociatedData(of: place) { sealer.open(sealed, authenticating: $0, to: target) }
            }
        }
        return isOpen ? page : nil
    }

    /// Returns the raw bytes of a page in the database file.
    func sealedPage(_ number: Int) throws(EncryptedDatabaseError) -> [UInt8] {
        try file.content(
            at: Int64(FileFormat.keyBlockSize) + Int64(number - 1) * Int64(FileFormat.pageSize),
            count: FileFormat.pageSize)
    }

    /// Returns a page for a separate database file: a page from the log is sealed for its place in the file,
    /// others are unchanged.
    func movedPage(_ number: Int) throws(EncryptedDatabaseError) -> [UInt8] {
        guard let frame = frames[number], let page = log?.page(inFrameAt: frame) else { return try sealedPage(number) }
        var sealed = [UInt8](repeating: 0, count: FileFormat.pageSize)
        let place = PageCipher.Place.main(Int64(number - 1) * Int64(FileFormat.pageSize))
        let isSealed = sealed.withUnsafeMutableBytes { target in
            page.withUnsafeBytes { page in
                guard let target = target.baseAddress, let page = page.baseAddress else { return false }
                return cipher.withAssociatedData(of: place) {
                    nonces.write(for: page, authenticating: $0, to: target)
                        && sealer.seal(page, nonce: target, authenticating: $0, to: target + FileFormat.nonceSize)
                }
            }
        }
        return isSealed ? sealed : try sealedPage(number)
    }
}
