//! As much of HTTP/1.1 as the retrying worker and its server need: messages with a Content-Length
//! over a connection that is kept open.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{SystemTime, UNIX_EPOCH};

const LINE_LIMIT: u64 = 512;
const BODY_LIMIT: usize = 512;

pub struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

/// The start line, whether the sender asked for the end of the connection, and the body.
pub struct Message {
    pub start: String,
    pub close: bool,
    pub body: String,
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// "Thu, 01 Jan 1970 00:00:00 GMT". Years are counted from March, so that a leap day is their last.
fn date() -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (now / 86400, now % 86400);
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let (of_month, month) = (in_year - (153 * month + 2) / 5 + 1, (month + 2) % 12);
    format!(
        "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        of_month,
        MONTHS[month as usize],
        year + era * 400 + u64::from(month < 2),
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

impl Connection {
    pub fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        Ok(Connection { reader: BufReader::new(stream.try_clone()?), writer: stream })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.reader).take(LINE_LIMIT).read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(text) => Ok(text.to_string()),
            None => Err(bad("a line does not end with CR LF")),
        }
    }

    pub fn receive(&mut self) -> io::Result<Message> {
        let mut message = Message { start: self.line()?, close: false, body: String::new() };
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| bad("a malformed header"))?;
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().map_err(|_| bad("a malformed Content-Length"))?;
            } else if name.eq_ignore_ascii_case("connection") {
                message.close = value.eq_ignore_ascii_case("close");
            }
        }
        if length > BODY_LIMIT {
            return Err(bad("a body is too long"));
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        message.body = String::from_utf8(body).map_err(|_| bad("a body is no text"))?;
        Ok(message)
    }

    /// In one write, so that it leaves in one segment.
    fn send(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes())
    }

    pub fn request(&mut self, target: &str, close: bool) -> io::Result<()> {
        let close = if close { "Connection: close\r\n" } else { "" };
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{close}\r\n"))
    }

    pub fn respond(&mut self, status: u32, close: bool, body: &str) -> io::Result<()> {
        let reason = match status {
            200 => "OK",
            429 => "Too Many Requests",
            _ => "Service Unavailable",
        };
        let close = if close { "Connection: close\r\n" } else { "" };
        let (date, length) = (date(), body.len());
        self.send(&format!(
            "HTTP/1.1 {status} {reason}\r\nDate: {date}\r\nContent-Type: text/plain\r\n\
             Content-Length: {length}\r\n{close}\r\n{body}"
        ))
    }
}
