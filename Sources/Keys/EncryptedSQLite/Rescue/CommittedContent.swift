/// The pages of a database with what is committed in its log, read without SQLite: whatever of both is damaged, the rest is
/// there.
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

    /// The highest number of a page in the log; 0 without one.
    var lastPageInLog: Int { frames.keys.max() ?? 0 }

    func isInLog(_ number: Int) -> Bool { frames[number] != nil }

    /// How many pages the file has, one that was cut included.
    func filePageCount() throws(EncryptedDatabaseError) -> Int {
        let bytes = try file.size() - Int64(FileFormat.keyBlockSize)
        return max(0, Int((bytes + Int64(FileFormat.pageSize) - 1) / Int64(FileFormat.pageSize)))
    }

    /// How many pages the database has, as its first one says; nil where that does not open or says nothing.
    func statedPageCount() throws(EncryptedDatabaseError) -> Int? {
        guard let page = try page(1) else { return nil }
        func integer(at offset: Int) -> Int { page[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        // SQLite's file format, 1.3.7: the size counts where the version it is valid for is the present one.
        return integer(at: 24) == integer(at: 92) && integer(at: 28) > 0 ? integer(at: 28) : nil
    }

    /// A page as it was written, with its reserved bytes; nil where it does not open.
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

    /// The bytes of a page in the database file, whatever they are.
    func sealedPage(_ number: Int) throws(EncryptedDatabaseError) -> [UInt8] {
        try file.content(
            at: Int64(FileFormat.keyBlockSize) + Int64(number - 1) * Int64(FileFormat.pageSize),
            count: FileFormat.pageSize)
    }

    /// A page for a database file of its own: sealed for its place there where the log has it, else as it is.
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
