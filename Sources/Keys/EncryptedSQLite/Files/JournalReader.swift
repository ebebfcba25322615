/// A reader of a whole rollback journal that follows SQLite's playback and finds the first damaged place.
struct JournalReader {
    private static let recordSize = 4 + FileFormat.pageSize + 4

    private let content: [UInt8]
    private let cipher: PageCipher
    private let masks: [ChecksumMasks]
    private let sealers: [FormatVersion: PageSealer]

    /// - Parameter version: The format version of the database; journals of earlier versions are read too.
    init(content: [UInt8], cipher: PageCipher, version: FormatVersion) {
        let versions = FormatVersion.allCases.reversed().filter { $0 <= version }
        self.content = content
        self.cipher = cipher
        masks = versions.map { cipher.masks($0) }
        sealers = Dictionary(
            versions.map { ($0, cipher.sealer(for: .journal, $0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The first damaged place, at which a playback would end; `nil` if there is none.
    ///
    /// A journal that begins with zeros is ignored: it was kept after a commit, or was not durable before a
    /// crash.
    var firstDamage: (offset: Int, expected: EncryptedDatabase.Damage.Expectation)? {
        guard content.count >= JournalHeader.size, content[..<12].contains(where: { $0 != 0 }) else { return nil }
        var at = 0
        while at + JournalHeader.size <= content.count,
            at == 0 || content[at..<(at + JournalHeader.magic.count)].elementsEqual(JournalHeader.magic)
        {
            guard let segment = segment(at) else { return (at, .journalHeader) }
            let records = integer(at: at + 8)
            let seed = integer(at: at + 12)
            at += JournalHeader.size
            for _ in 0..<records {
                guard recordIsWhole(at, seed: seed, in: segment) else { return (at, .journalRecord) }
                at += Self.recordSize
            }
            at = (at + JournalHeader.size - 1) / JournalHeader.size * JournalHeader.size
        }
        return nil
    }

    /// Returns the segment of the header at an offset, or `nil` if the header is damaged.
    private func segment(_ at: Int) -> JournalHeader.Segment? {
        content[at..<(at + JournalHeader.size)].withUnsafeBytes {
            guard $0[..<JournalHeader.magic.count].elementsEqual(JournalHeader.magic),
                $0[JournalHeader.sealedSize...].allSatisfy({ $0 == 0 })
            else { return nil }
            return JournalHeader.segment($0, at: Int64(at), with: masks)
        }
    }

    private func recordIsWhole(_ at: Int, seed: UInt32, in segment: JournalHeader.Segment) -> Bool {
        guard at + Self.recordSize <= content.count, let sealer = sealers[segment.version],
            let masks = masks.first(where: { $0.version == segment.version })
        else { return false }
        let start = at + 4
        let place = segment.place(at: Int64(start), page: integer(at: at))
        var page = [UInt8](repeating: 0, count: FileFormat.pageSize)
        var nonce = Nonce()
        let isOpen = page.withUnsafeMutableBytes { target in
            content[start..<(start + FileFormat.pageSize)].withUnsafeBytes { sealed in
                guard let target = target.baseAddress, let sealed = sealed.baseAddress else { return false }
                nonce = Nonce(of: sealed)
                return cipher.withAssociatedData(of: place) { sealer.open(sealed, authenticating: $0, to: target) }
            }
        }
        // SQLite's checksum covers every 200th byte, from the end.
        let sum = stride(from: FileFormat.pageSize - 200, to: 0, by: -200).reduce(seed) { $0 &+ UInt32(page[$1]) }
        let end = start + FileFormat.pageSize
        let mask = masks.journalRecord(at: Int64(end), segment: segment.fields, page: place.page, nonce: nonce)
        return isOpen && integer(at: end) ^ mask == sum
    }

    private func integer(at offset: Int) -> UInt32 {
        content[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
