"""Makes small.xls: two rows of the old binary Excel format (xlwt 1.3.0).

    pip install xlwt==1.3.0
    python3 make_xls.py
"""

import xlwt

book = xlwt.Workbook()
sheet = book.add_sheet("data")
for column, name in enumerate(["x (kg)", "y"]):
    sheet.write(0, column, name)
for row, values in enumerate([(540, 79.98611076), (0.00007, -2.5)], start=1):
    for column, value in enumerate(values):
        sheet.write(row, column, value)
# A cell that holds only a blank, below the data.
sheet.write(5, 0, " ")
book.save("small.xls")
